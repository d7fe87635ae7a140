// Commits by week: ISO weeks, Monday to Sunday in UTC, by the time the author gave.
import { gitFields } from './git.mjs';
import { step } from './step.mjs';
import { plural } from './text.mjs';

const DAY = 86_400_000;
const LATEST = Date.UTC(9999, 11, 1);

await step(async ({ repo, head }) => {
  const byMonday = new Map();
  let commits = 0;
  let undated = 0; // clocks of authors may say anything
  if (head !== '') {
    for await (const seconds of gitFields(repo, ['log', '-z', '--no-patch', '--format=%at', head])) {
      commits += 1;
      const time = Number(seconds) * 1000;
      if (!(time > 0 && time < LATEST)) undated += 1;
      else {
        const monday = mondayOf(time);
        byMonday.set(monday, (byMonday.get(monday) ?? 0) + 1);
      }
    }
  }
  const weeks = [...byMonday].sort(([a], [b]) => a - b).map(([monday, n]) => ({ week: isoWeek(monday), monday: isoDay(monday), commits: n }));
  return { commits, undated, weeks };
}, ({ commits, weeks }) => `${plural(commits, 'commit')} in ${plural(weeks.length, 'week')}`);

function mondayOf(time) {
  const days = Math.floor(time / DAY);
  return (days - ((days + 3) % 7)) * DAY; // 1 January 1970 was a Thursday
}

// The week belongs to the year of its Thursday.
function isoWeek(monday) {
  const thursday = monday + 3 * DAY;
  const year = new Date(thursday).getUTCFullYear();
  return `${year}-W${String(Math.floor((thursday - Date.UTC(year, 0, 1)) / (7 * DAY)) + 1).padStart(2, '0')}`;
}

function isoDay(time) {
  return new Date(time).toISOString().slice(0, 10);
}
