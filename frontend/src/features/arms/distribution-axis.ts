/**
 * Chooses the end of a distribution's axis, so that a few far-out samples do not squeeze the rest into one line.
 *
 * The fence is Tukey's for far-out values, upper quartile + 3 × interquartile range. Only the picture changes.
 */
import type { Distribution } from '../../api/types';

type Arm = Distribution['arms'][number];

/** Returns the value at or below which a share of the samples lies, read from the steps. */
export function quantile(arm: Arm, share: number): number | undefined {
  return arm.points.find((point) => point.share >= share)?.value;
}

function fence(arm: Arm): number {
  const low = quantile(arm, 0.25) ?? 0;
  const high = quantile(arm, 0.75) ?? 0;
  return high + 3 * (high - low);
}

export interface AxisCut {
  until: number;
  /** Share of each arm's samples beyond the axis, arms without any left out. */
  beyond: { arm: string; share: number }[];
}

/** Returns undefined if no sample lies more than a quarter beyond the fence of the slowest arm. */
export function chooseAxisCut(arms: readonly Arm[]): AxisCut | undefined {
  const until = Math.max(...arms.map(fence));
  const furthest = Math.max(
    ...arms.map((arm) => arm.points.at(-1)?.value ?? 0),
  );
  if (furthest <= until * 1.25) return undefined;
  const beyond = arms
    .map((arm) => ({
      arm: arm.arm,
      share:
        1 - (arm.points.findLast(({ value }) => value <= until)?.share ?? 0),
    }))
    .filter(({ share }) => share > 0);
  return { until, beyond };
}
