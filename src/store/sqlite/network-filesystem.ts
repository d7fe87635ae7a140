// Network file systems: the write-ahead log needs memory shared by all processes, which they do not give.
import { readFileSync, statfsSync, statSync } from 'node:fs';

// Numbers of `statfs(2)` on Linux.
const NETWORK_TYPES = new Map<number, string>([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x5346414f, 'afs'],
  [0x00c36400, 'ceph'],
  [0x0bd00bd0, 'lustre'],
  [0x73757245, 'coda'],
  [0x786f4256, 'vboxsf'],
]);
const FUSE = 0x65735546;
const NETWORK_FUSE = /^fuse\.(?:sshfs|rclone|s3fs|gcsfuse|glusterfs|ceph|davfs|smbnetfs|curlftpfs)/;

/** Name of the network file system a folder lies on; undefined when it lies on none, or that cannot be told. */
export function networkFilesystem(folder: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const { type } = statfsSync(folder);
    return nameNetworkFilesystem(type, () => fuseName(statSync(folder).dev, readFileSync('/proc/self/mountinfo', 'utf8')));
  } catch {
    return undefined;
  }
}

/**
 * The same from what the system says.
 * @param type number of the file system as `statfs` gives it
 * @param fuse asked for FUSE only, which serves local folders too: its full name, such as `fuse.sshfs`
 */
export function nameNetworkFilesystem(type: number, fuse: () => string | undefined): string | undefined {
  // The number is signed on some systems.
  const unsigned = type >>> 0;
  if (unsigned !== FUSE) return NETWORK_TYPES.get(unsigned);
  const name = fuse();
  return name !== undefined && NETWORK_FUSE.test(name) ? name : undefined;
}

/** Name of the file system that `/proc/self/mountinfo` lists for a device number. */
export function fuseName(device: number, mountinfo: string): string | undefined {
  // As glibc packs a device number; below 2^32 these are the parts that matter.
  const major = (device >>> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  for (const line of mountinfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    if (before.split(' ')[2] === `${major}:${minor}`) return after.split(' ')[0];
  }
  return undefined;
}
