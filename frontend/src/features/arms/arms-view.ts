/**
 * What of a benchmark is drawn: which param lies on the x axis, at which values the others stand, which arms
 * are shown. Pure. Invariant: every choice is one that was measured; what an address asks for and was not
 * measured falls back to a default, never to an empty page.
 */
import type { Benchmark } from '../../api/types';
import type { Params } from '../../lib/params';
import type { ArmsSearch } from './arms-search';

export type ParamValue = number | string;

/** In place of a param on the x axis: every arm at one point. */
export const SIDE_BY_SIDE = 'arms';

export interface FixedParam {
  name: string;
  unit: string | null;
  /** Measured values in order. */
  values: ParamValue[];
  value: ParamValue;
}

export interface ArmsView {
  /** Params with numbers to order by; empty when arms can only stand side by side. */
  xChoices: string[];
  /** Undefined: arms side by side. */
  x: string | undefined;
  xUnit: string | null;
  fixed: FixedParam[];
}

export function parseAt(
  at: string | undefined,
): Readonly<Record<string, string>> {
  const pairs = (at ?? '').split(',').map((pair) => pair.split('='));
  return Object.fromEntries(
    pairs.filter((pair): pair is [string, string] => pair.length === 2),
  );
}

function measuredValues(
  name: string,
  points: readonly Params[],
  declared: readonly ParamValue[],
) {
  const values = [...new Set(points.map((params) => params[name]))].filter(
    (value) => value !== undefined,
  );
  if (values.every((value) => typeof value === 'number'))
    return values.toSorted((a, b) => a - b);
  return values.toSorted((a, b) => declared.indexOf(a) - declared.indexOf(b));
}

/** Values at which something can be drawn; all of them when there are none. */
function preferred(
  param: Pick<FixedParam, 'name' | 'values'>,
  drawable: readonly Params[],
): ParamValue[] {
  const drawableValues = param.values.filter((value) =>
    drawable.some((params) => params[param.name] === value),
  );
  return drawableValues.length === 0 ? param.values : drawableValues;
}

/** Where nothing is chosen: the middle of ordered numbers, the first of words. */
function defaultValue(values: readonly ParamValue[]): ParamValue {
  const numeric = values.every((value) => typeof value === 'number');
  return values[numeric ? Math.floor((values.length - 1) / 2) : 0] ?? '';
}

/** What was measured, and of that where something can be drawn: defaults are taken from the latter. */
export interface Points {
  measured: readonly Params[];
  drawable: readonly Params[];
}

export function viewOf(
  benchmark: Benchmark,
  { measured: points, drawable }: Points,
  search: ArmsSearch,
): ArmsView {
  const names = [
    ...new Set([
      ...benchmark.params.map(({ name }) => name),
      ...points.flatMap((params) => Object.keys(params)),
    ]),
  ];
  const params = names.map((name) => {
    const declared = benchmark.params.find((param) => param.name === name);
    return {
      name,
      unit: declared?.unit ?? null,
      values: measuredValues(name, points, declared?.values ?? []),
    };
  });
  const xChoices = params
    .filter(
      ({ values }) =>
        values.length > 1 && values.every((value) => typeof value === 'number'),
    )
    .map(({ name }) => name);
  const x =
    search.x === SIDE_BY_SIDE
      ? undefined
      : (xChoices.find((name) => name === search.x) ?? xChoices[0]);
  const at = parseAt(search.at);
  return {
    xChoices,
    x,
    xUnit: params.find(({ name }) => name === x)?.unit ?? null,
    fixed: params
      .filter(({ name, values }) => name !== x && values.length > 0)
      .map((param) =>
        Object.assign(param, {
          value:
            param.values.find((value) => String(value) === at[param.name]) ??
            defaultValue(preferred(param, drawable)),
        }),
      ),
  };
}

/** Whether a row stands at the chosen values of every param that is not on the x axis. */
export function isShown(view: ArmsView, params: Params): boolean {
  return view.fixed.every(
    ({ name, value }) => params[name] === undefined || params[name] === value,
  );
}

/** Derived rows over the x axis do not name its param; those of one point name every param. */
export function concerns(view: ArmsView, params: Params): boolean {
  return (
    isShown(view, params) &&
    (view.x === undefined || params[view.x] === undefined)
  );
}

export function hiddenArms(search: ArmsSearch): ReadonlySet<string> {
  return new Set((search.hide ?? '').split(',').filter((name) => name !== ''));
}

export function toggled(
  hidden: ReadonlySet<string>,
  arm: string,
): string | undefined {
  const next = hidden.has(arm)
    ? [...hidden].filter((name) => name !== arm)
    : [...hidden, arm];
  return next.length === 0 ? undefined : next.join(',');
}
