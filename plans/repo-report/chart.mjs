// The charts, as SVG that needs nothing from outside: colours are classes that the page defines.
import { html, number } from './text.mjs';

const WEEK = 7 * 86_400_000;
const FEWEST_WEEKS = 16; // a young repository gets bars, not one wall
const MOST_WEEKS = 1040; // twenty years; a clock that was wrong must not press all other weeks into one pixel

/** Bars for commits by week. Weeks without commits have their place; `weeks` is sorted and not empty. */
export function weekChart(weeks) {
  const size = { width: 960, height: 260, left: 48, right: 12, top: 14, bottom: 30 };
  const inner = { width: size.width - size.left - size.right, height: size.height - size.top - size.bottom };
  const last = Date.parse(weeks.at(-1).monday);
  const slots = Math.min(Math.max((last - Date.parse(weeks[0].monday)) / WEEK + 1, FEWEST_WEEKS), MOST_WEEKS);
  const first = last - (slots - 1) * WEEK;
  const shown = weeks.filter((week) => Date.parse(week.monday) >= first);
  const slot = inner.width / slots;
  const most = shown.reduce((high, week) => Math.max(high, week.commits), 0);
  const { step, top } = scale(most);
  const x = (time) => size.left + ((time - first) / WEEK) * slot;
  const y = (value) => size.top + inner.height - (value / top) * inner.height;

  const parts = [];
  for (let value = 0; value <= top; value += step) {
    parts.push(`<line class="grid" x1="${size.left}" x2="${size.width - size.right}" y1="${round(y(value))}" y2="${round(y(value))}"/>`);
    parts.push(`<text class="tick" x="${size.left - 8}" y="${round(y(value) + 4)}" text-anchor="end">${number(value)}</text>`);
  }
  const gap = slot > 6 ? 2 : slot > 3 ? 1 : 0;
  for (const week of shown) {
    const height = (week.commits / top) * inner.height;
    const label = `${week.week} (from ${week.monday}): ${number(week.commits)} ${week.commits === 1 ? 'commit' : 'commits'}`;
    const rounded = slot > 6 ? ' rx="1.5"' : '';
    parts.push(`<rect class="bar" x="${round(x(Date.parse(week.monday)))}" y="${round(size.top + inner.height - height)}" width="${round(Math.max(slot - gap, 0.8))}" height="${round(height)}"${rounded}><title>${html(label)}</title></rect>`);
  }
  const every = Math.ceil(90 / slot); // so many slots that the labels have room
  for (let i = 0; i < slots; i += every) {
    const time = first + i * WEEK;
    const at = x(time);
    if (at > size.width - size.right - 60) break;
    parts.push(`<line class="grid" x1="${round(at)}" x2="${round(at)}" y1="${size.top + inner.height}" y2="${size.top + inner.height + 5}"/>`);
    parts.push(`<text class="tick" x="${round(at)}" y="${size.height - 8}">${new Date(time).toISOString().slice(0, 10)}</text>`);
  }
  const title = `Commits by week, at most ${number(most)} in one`;
  return {
    svg: `<svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${html(title)}">${parts.join('')}</svg>`,
    hidden: weeks.length - shown.length,
  };
}

/** One horizontal bar, as wide as its share of the largest. */
export function bar(value, most) {
  const width = most === 0 ? 0 : Math.max((value / most) * 100, value > 0 ? 0.5 : 0);
  return `<svg class="inline" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="10"/><rect class="bar" width="${round(width)}" height="10"/></svg>`;
}

// Steps of 1, 2 or 5 times a power of ten, about four of them.
function scale(most) {
  const rough = Math.max(most, 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough));
  return { step, top: Math.ceil(Math.max(most, 1) / step) * step };
}

function round(value) {
  return Number(value.toFixed(2));
}
