/** Computes the ticks of a time axis at local minutes, hours, days, months or years, with their labels. */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Mean lengths, used only to choose a step; the ticks follow the calendar. */
const MONTH_MS = 30.4 * DAY_MS;
const YEAR_MS = 12 * MONTH_MS;

type Unit = 'minute' | 'hour' | 'day' | 'month';
type Step = readonly [unit: Unit, count: number, ms: number];

const STEPS: readonly Step[] = [
  ...[1, 5, 15, 30].map((count): Step => ['minute', count, count * MINUTE_MS]),
  ...[1, 3, 6, 12].map((count): Step => ['hour', count, count * HOUR_MS]),
  ...[1, 2, 7, 14].map((count): Step => ['day', count, count * DAY_MS]),
  ...[1, 2, 3, 6, 12, 24, 60].map((count): Step => [
    'month',
    count,
    count * MONTH_MS,
  ]),
];

const FORMATS: Readonly<Record<Unit | 'long', Intl.DateTimeFormatOptions>> = {
  minute: { hour: '2-digit', minute: '2-digit' },
  hour: { hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  month: { month: 'short', year: 'numeric' },
  long: { year: 'numeric' },
};

export interface TimeTicks {
  ticks: number[];
  format: (at: number) => string;
}

/** Returns the last instant at or before `at` at which a step of this unit may start. */
function floorTo(at: number, unit: Unit, count: number): Date {
  const date = new Date(at);
  if (unit === 'minute') {
    date.setMinutes(Math.floor(date.getMinutes() / count) * count, 0, 0);
    return date;
  }
  if (unit === 'hour') {
    date.setMinutes(0, 0, 0);
    date.setHours(Math.floor(date.getHours() / count) * count);
    return date;
  }
  date.setHours(0, 0, 0, 0);
  if (unit === 'month') {
    date.setDate(1);
    date.setMonth(
      count >= 12 ? 0 : Math.floor(date.getMonth() / count) * count,
    );
  }
  return date;
}

function advance(date: Date, unit: Unit, count: number): void {
  if (unit === 'minute') date.setMinutes(date.getMinutes() + count);
  else if (unit === 'hour') date.setHours(date.getHours() + count);
  else if (unit === 'day') date.setDate(date.getDate() + count);
  else date.setMonth(date.getMonth() + count);
}

export function timeTicks(from: number, to: number, wanted = 6): TimeTicks {
  const rough = Math.max(to - from, MINUTE_MS) / wanted;
  const [unit, count] = STEPS.find(([, , ms]) => ms >= rough) ?? ['month', 120];
  const ticks: number[] = [];
  const at = floorTo(from, unit, count);
  for (; at.getTime() <= to; advance(at, unit, count)) {
    if (at.getTime() >= from) ticks.push(at.getTime());
  }
  const format = FORMATS[unit === 'month' && rough > YEAR_MS ? 'long' : unit];
  return { ticks, format: (tick) => label(tick, unit, format) };
}

/** Formats a tick; among hours, midnight is shown as its day. */
function label(
  tick: number,
  unit: Unit,
  format: Intl.DateTimeFormatOptions,
): string {
  const date = new Date(tick);
  const midnight = unit === 'hour' && date.getHours() === 0;
  return date.toLocaleString('en-GB', midnight ? FORMATS.day : format);
}
