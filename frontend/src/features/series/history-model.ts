/**
 * Turns a series and its points into what a history chart draws.
 *
 * Every level, limit, band and sentence comes from the server; this file only gives them a place in time (I17).
 */
import type {
  Change,
  SeriesPage,
  SeriesPoint,
  SeriesPoints,
} from '../../api/types';
import { isOutsideAxis, chooseValueAxis } from '../../charts/history-frame';
import type { HistorySign } from '../../charts/history-legend';
import type {
  Extent,
  HistoryBand,
  HistoryLevel,
  HistoryMark,
  HistoryPicture,
  HistoryPoint,
} from '../../charts/history-picture';
import { formatDateTime } from '../../lib/times';
import { formatToStep, formatValue, type Unit } from '../../lib/units';
import { isWorse, shortChangeText } from '../../ui/change-badges';
import type { SeriesSearch } from './series-search';

const ms = (instant: string) => Date.parse(instant);

/**
 * Returns the drawn window and the whole range. The server's instants are finer than a browser's, so
 * the end is 1 ms after the last point: a window that ends there must include it.
 */
export function computeSpans(
  points: SeriesPoints,
  { from, to }: SeriesSearch,
): { span: Extent; whole: Extent } {
  const [first, last] = [
    ms(points.first_at ?? ''),
    ms(points.last_at ?? '') + 1,
  ];
  const whole: Extent =
    Number.isNaN(first) || Number.isNaN(last) ? [0, 0] : [first, last];
  return {
    whole,
    span: [
      from === undefined ? whole[0] : ms(from),
      to === undefined ? whole[1] : ms(to),
    ],
  };
}

/** Returns the points in the window; while new points load, those of the previous window may be shown. */
export function pointsWithin(
  points: SeriesPoints,
  [from, to]: Extent,
): SeriesPoint[] {
  return points.points.filter(({ at }) => ms(at) >= from && ms(at) <= to);
}

/** Returns the unit of values in an environment; the series has the unit of its present environment. */
export function unitAt(
  { environments, series }: SeriesPage,
  environment: number,
): Unit {
  return environments[environment]?.unit ?? series.unit;
}

/** Returns whether values of an environment have the axis's unit. Other values are in the table only. */
function isOnAxis(page: SeriesPage, environment: number): boolean {
  return unitAt(page, environment) === page.series.unit;
}

export function drawnPoints(points: readonly SeriesPoint[]): HistoryPoint[] {
  return points.map(({ job_id: key, at, value, lower, upper, excluded }) => ({
    key,
    at: ms(at),
    value,
    lower,
    upper,
    aside: excluded !== null,
  }));
}

/** Returns the levels to draw, each from its first point to its last one in the window. */
export function drawnLevels(
  page: SeriesPage,
  [start, stop]: Extent,
): HistoryLevel[] {
  return page.segments
    .filter(({ environment }) => isOnAxis(page, environment))
    .map(({ start_at: first, stop_at: last, level, lower, upper }) => ({
      from: Math.max(start, ms(first)),
      to: Math.min(stop, ms(last)),
      level,
      lower,
      upper,
    }))
    .filter(({ from, to }) => from <= to);
}

/** Returns the bands of the limit and the noise floor, drawn only beside the present level they belong to. */
export function drawnBands(
  { segments, rule, noise, series }: SeriesPage,
  [, stop]: Extent,
): HistoryBand[] {
  const present = segments.at(-1);
  if (present === undefined || ms(present.start_at) > stop) return [];
  const from = ms(present.start_at);
  const bands: HistoryBand[] = [];
  if (
    noise?.lower !== undefined &&
    noise.lower !== null &&
    noise.upper !== null
  ) {
    bands.push({
      kind: 'noise',
      from,
      to: null,
      low: noise.lower,
      high: noise.upper,
    });
  }
  if (rule?.limit !== undefined && rule.limit !== null) {
    const worseAbove = series.direction === 'lower';
    bands.push({
      kind: 'limit',
      from,
      to: null,
      low: worseAbove ? rule.limit : null,
      high: worseAbove ? null : rule.limit,
    });
  }
  return bands;
}

export interface LetteredChange {
  letter: string;
  change: Change;
}

/** Returns the changes by time, each with the letter that names it in chart and table. */
export function labelChanges({ changes }: SeriesPage): LetteredChange[] {
  return changes
    .toSorted((a, b) => ms(a.at) - ms(b.at))
    .map((change, index) => ({ change, letter: letterOf(index) }));
}

const ALPHABET = 26;
function letterOf(index: number): string {
  const letter = String.fromCodePoint(65 + (index % ALPHABET));
  return index < ALPHABET ? letter : `${letter}${Math.floor(index / ALPHABET)}`;
}

export function drawnMarks(
  page: SeriesPage,
  [from, to]: Extent,
): HistoryMark[] {
  const marks: HistoryMark[] = [
    ...labelChanges(page)
      .filter(({ change }) => change.state !== 'vanished')
      .map(({ letter, change }): HistoryMark => ({
        key: change.id,
        at: ms(change.at),
        label: `${letter} ${shortChangeText(change)}`,
        tone: isWorse(change) ? 'bad' : 'good',
      })),
    ...page.environments
      .filter(({ change }) => change !== null)
      .map(({ index, first_at: at, change }): HistoryMark => ({
        key: `environment ${index}`,
        at: ms(at),
        label: change ?? '',
        tone: 'quiet',
      })),
    ...page.annotations.map(({ id, at, text }): HistoryMark => ({
      key: id,
      at: ms(at),
      label: text,
      tone: 'note',
    })),
  ];
  return marks.filter(({ at }) => at >= from && at <= to);
}

/** Formats a value with its interval, in as many digits as the interval needs. */
export function valueText(
  { value, lower, upper }: SeriesPoint,
  unit: Unit,
): string {
  const width = upper - lower;
  if (width <= 0) return formatValue(value, unit);
  const [low, middle, high] = [lower, value, upper].map((bound) =>
    formatToStep(bound, unit, width / 4),
  );
  return `${middle} (${low} – ${high})`;
}

export function pointLines(point: SeriesPoint, unit: Unit): string[] {
  return [
    formatDateTime(point.at),
    valueText(point, unit),
    `commit ${point.commit.slice(0, 12)}`,
    ...(point.excluded === null ? [] : [`excluded: ${point.excluded}`]),
  ];
}

export function pictureOf(
  page: SeriesPage,
  points: readonly SeriesPoint[],
  span: Extent,
): HistoryPicture {
  return {
    points: drawnPoints(
      points.filter(({ environment }) => isOnAxis(page, environment)),
    ),
    levels: drawnLevels(page, span),
    bands: drawnBands(page, span),
    marks: drawnMarks(page, span),
    span,
    format: (value, step) => formatToStep(value, page.series.unit, step),
  };
}

/** Returns the entries of the legend for the signs that are drawn. */
export function signsOf(
  page: SeriesPage,
  picture: HistoryPicture,
): { sign: HistorySign; label: string }[] {
  const { points, bands } = picture;
  const { unit } = page.series;
  const { rule, noise } = page;
  const has = (kind: HistoryBand['kind']) =>
    bands.some((band) => band.kind === kind);
  const signs: { sign: HistorySign; label: string }[] = [
    { sign: 'point', label: 'median of a job, 99 % interval' },
  ];
  const axis = chooseValueAxis(picture);
  const aside = points.filter((point) => point.aside);
  if (aside.some((point) => !isOutsideAxis(point, axis)))
    signs.push({ sign: 'aside', label: 'excluded' });
  if (aside.some((point) => isOutsideAxis(point, axis))) {
    signs.push({ sign: 'far', label: 'excluded, outside the chart' });
  }
  if (page.segments.length > 0)
    signs.push({
      sign: 'level',
      label: 'level, with the range of single points',
    });
  if (has('noise') && noise !== null)
    signs.push({ sign: 'noise', label: `noise floor: ${noise.words}` });
  if (has('limit') && rule !== null && rule.limit !== null) {
    signs.push({
      sign: 'limit',
      label: `limit of ${rule.name}: ${formatValue(rule.limit, unit)}`,
    });
  }
  return signs;
}
