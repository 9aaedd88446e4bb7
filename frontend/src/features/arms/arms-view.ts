/**
 * Decides what the page of a benchmark draws: the param on the x axis, the values of the other params, and the
 * arms. If the address selects something that was not measured, a measured default is drawn instead, so the page
 * is never empty.
 */
import type { Benchmark } from '../../api/types';
import type { Params } from '../../lib/params';
import type { ArmsSearch } from './arms-search';

export type ParamValue = number | string;

/** Value of `x` in an address that selects no param for the x axis; the arms are drawn side by side. */
export const SIDE_BY_SIDE = 'arms';

export interface FixedParam {
  name: string;
  unit: string | null;
  /** Measured values in ascending order. */
  values: ParamValue[];
  value: ParamValue;
}

export interface ArmsView {
  /** Params with several numeric values. If there are none, arms can only be drawn side by side. */
  xChoices: string[];
  /** The param on the x axis; undefined if arms are drawn side by side. */
  x: string | undefined;
  xUnit: string | null;
  fixed: FixedParam[];
}

/** Parses `name=value,name=value`, the values that an address selects. */
export function parseSelectedValues(
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

/** Returns the values that have something to draw, or all values if none has. */
function drawableValues(
  param: Pick<FixedParam, 'name' | 'values'>,
  drawable: readonly Params[],
): ParamValue[] {
  const values = param.values.filter((value) =>
    drawable.some((params) => params[param.name] === value),
  );
  return values.length === 0 ? param.values : values;
}

/** Returns the default value: the middle one of numbers, the first one of texts. */
function defaultValue(values: readonly ParamValue[]): ParamValue {
  const numeric = values.every((value) => typeof value === 'number');
  return values[numeric ? Math.floor((values.length - 1) / 2) : 0] ?? '';
}

/** The params of all measured rows, and of the rows that can be drawn. Defaults come from the latter. */
export interface RowParams {
  measured: readonly Params[];
  drawable: readonly Params[];
}

export function viewOf(
  benchmark: Benchmark,
  { measured: points, drawable }: RowParams,
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
  const selected = parseSelectedValues(search.at);
  return {
    xChoices,
    x,
    xUnit: params.find(({ name }) => name === x)?.unit ?? null,
    fixed: params
      .filter(({ name, values }) => name !== x && values.length > 0)
      .map((param) =>
        Object.assign(param, {
          value:
            param.values.find(
              (value) => String(value) === selected[param.name],
            ) ?? defaultValue(drawableValues(param, drawable)),
        }),
      ),
  };
}

/** Returns whether a row has the selected value of every param that is not on the x axis. */
export function isShown(view: ArmsView, params: Params): boolean {
  return view.fixed.every(
    ({ name, value }) => params[name] === undefined || params[name] === value,
  );
}

/**
 * Returns whether a derived row is shown. A row derived from all values on the x axis has no value of that param;
 * a row of a single value is left out.
 */
export function isDerivedRowShown(view: ArmsView, params: Params): boolean {
  return (
    isShown(view, params) &&
    (view.x === undefined || params[view.x] === undefined)
  );
}

export function hiddenArms(search: ArmsSearch): ReadonlySet<string> {
  return new Set((search.hide ?? '').split(',').filter((name) => name !== ''));
}

/** Returns the `hide` of an address after `arm` was shown or hidden. */
export function toggleArm(
  hidden: ReadonlySet<string>,
  arm: string,
): string | undefined {
  const next = hidden.has(arm)
    ? [...hidden].filter((name) => name !== arm)
    : [...hidden, arm];
  return next.length === 0 ? undefined : next.join(',');
}
