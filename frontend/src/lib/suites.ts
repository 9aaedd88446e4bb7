/** Chooses the suite that a page shows when its address names none. */

/** Returns the named suite, else the one that ran last, because the first by name may never have run. */
export function suiteToOpen<
  S extends { name: string; last_run_at: string | null },
>(suites: readonly S[], named: string | undefined): S | undefined {
  const runLast = (best: S | undefined, suite: S): S =>
    best === undefined || (suite.last_run_at ?? '') > (best.last_run_at ?? '')
      ? suite
      : best;
  return (
    suites.find(({ name }) => name === named) ??
    suites.reduce<S | undefined>(runLast, undefined)
  );
}
