"""Defines every constant of every decision, with its unit, reason and source.

Findings store the values they were made with (I16), so a change here never alters an earlier decision. The
shape of history's model (tables and grids in `residuals`, `levels` and `changepoint`) is part of `METHOD`
instead; "§" refers to STATISTICS.
"""

from __future__ import annotations

from typing import Final

# --- Measuring (§1) -------------------------------------------------------------------------------
WARMUP_MIN_BLOCKS: Final = 5
"""blocks per launch; caches, JIT and frequency settle within the first few passes (arXiv 1602.00602). §1"""

WARMUP_SHARE: Final = 0.10
"""share of a launch's measured blocks; long launches also have longer ramps. §1"""

STEADY_P: Final = 0.001
"""probability; Mann-Whitney between a launch's halves. Strict: a launch is tested in every job. §1"""

STEADY_SHIFT: Final = 0.02
"""ratio of medians minus 1; a shift below the default margin cannot flip a verdict. §1"""

OPTIMISED_AWAY_NS: Final = 1.0
"""ns per operation; below three cycles at 3 GHz there is no call left to measure. §1"""
TUKEY_MILD: Final = 1.5
"""interquartile ranges; an imported sample farther from its quartile counts as an outlier, but is kept."""
TUKEY_SEVERE: Final = 3.0
"""interquartile ranges; beyond, it counts as a severe outlier."""

DEFAULT_LAUNCHES: Final = 5
"""Default number of launches on a host: enough for LAUNCH_SHARE to outvote a biased process. §1"""

DEVICE_LAUNCHES: Final = 10
"""Default number of launches on a device, whose scheduler, clocks and heat bias more launches. §1"""

# --- Arm verdict (§2) -----------------------------------------------------------------------------
MIN_BLOCKS: Final = 30
"""blocks; with fewer the 99.8 % order-statistic interval spans most of the data. §2"""

MIN_LAUNCHES: Final = 3
"""launches; 3 of 40 launches of identical code were biased by 2.5 to 11.8 %, so a single launch is not
enough. §1, §2"""

INTERVAL_CONFIDENCE: Final = 0.998
"""probability; two-sided, so each side is wrong once in 1,000, like the test. §2"""

LOOK_ALPHA: Final = (0.0005, 0.0003, 0.0002)
"""probability per look; a job may be extended twice, and the total is 0.001 (Bonferroni). §2"""

LAUNCH_SHARE: Final = 0.8
"""share of launch medians that must exceed the margin; a verdict never rests on one biased process. §2"""

EARLY_MIN_LAUNCHES: Final = 2
"""launches; a job that stops when sure looks from here on. One process proves nothing about the next."""

EARLY_EXTRA_PERCENT: Final = 12.0
"""percent beyond the margin before all planned launches ran: every measured launch bias (2.5 to 11.8 %) is less, and it is
four standard deviations of a launch where launches differ by 3 %. README, "Stop when sure"."""

EARLY_LEVEL_PERCENT: Final = (12.0, 6.0, 3.0)
"""percent by which each launch by itself lies beyond a level after 2, 3, and 4 or more launches, for a gate to be decided
before all planned ones ran. So many launches that are biased alike by chance are rarer with each. README, "Stop when sure"."""

EARLY_ALPHA: Final = 1e-6
"""probability of each look before all planned launches, taken from the first of LOOK_ALPHA. A far pair has a p-value below
it after two launches, and it survives Benjamini and Hochberg among 10,000 pairs."""

LAUNCH_CERTAINTY: Final = 0.90
"""probability, by the launches, that an effect lies beyond the margin for a slower verdict, and inside it for a pass. With
0.95, one batch passes equal arms at 1 % launch noise in 90 instead of 97 of 100 jobs (README). §2"""

NOISY_LAUNCH_CERTAINTY: Final = 0.99
"""the same for a pass where launches are known to differ, by the other pairs of the job. §2"""

LAUNCH_NOISE_SHARE: Final = 0.75
"""share of the margin; launches that differ by more dominate what a pair can say. With 0.5, one biased launch of five
makes a target blind for 4 % (README). §2"""

LAUNCH_EFFECT_SHARE: Final = 0.1
"""share of the margin up to which an effect is none: beyond it a slower verdict by the launches must be as certain as its
look demands. With 0.5, three batches find +3 % at 1 % launch noise in 94 instead of 97 of 100 jobs. §2"""

LAUNCH_NOISE_PAIRS: Final = 10
"""pairs of a metric; of so many the median says how much launches differ, also to each of them. §2"""

FALSE_DISCOVERY_Q: Final = 0.01
"""expected share of false slower verdicts among all of a run (Benjamini & Hochberg 1995). §2"""

UNUSABLE_SHARE: Final = 0.05
"""share of blocks without a positive value above which a pair is not judged: they are not missing at
random."""

BOOTSTRAP_REPLICATES: Final = 2000
"""replicates; the 0.1 % quantile then rests on two, enough for an interval that decides nothing. §2"""

BOOTSTRAP_SEED: Final = 20_200_701
"""fixed, so that the same samples always give the same interval (deterministic, §preamble)."""

# --- Audit of the protocol (§1) --------------------------------------------------------------------
POSITION_EXCESS: Final = 1
"""rounds by which an arm may run more often in one position than in another: an incomplete last square. §1"""

WORK_TOLERANCE: Final = 1e-9
"""relative; counters are integers, so two quotients that differ by more than rounding differ. §1"""

# --- Void conditions (§1) -------------------------------------------------------------------------
THERMAL_STATUS_LIMIT: Final = 2
"""Android thermal status `moderate`; from there on the platform throttles (PowerManager). §1"""

CALIBRATION_DRIFT: Final = 0.05
"""ratio minus 1 of the calibration kernel between before and after. §1"""

PRESSURE_PERCENT: Final = 5.0
"""percent of time the hypervisor (steal) or other work (PSI `some`) took the CPU from the job. §1"""

THERMAL_STATUS_VOID: Final = 3
"""Android thermal status `severe`: it throttles so much that people feel it. Between this and the limit it disturbs."""

# --- What a disturbed verdict must clear (§2, "Disturbed is harder") -----------------------------------
WAIT_EXTRA: Final = 0.125
"""log units of extra margin per share of the time that the workload waited for a CPU, up to WAIT_EXTRA_MOST, for an arm
at two revisions. No window of equal arms beside neighbours needed any (README)."""

WAIT_EXTRA_MOST: Final = 0.03
"""log units; half of what was demanded before the windows of equal arms were drawn without a bias (README)."""

WAIT_EXTRA_OF_ARMS: Final = 0.4
"""WAIT_EXTRA for arms of different code: no median beside neighbours of CPU, I/O or fork moved their ratio by more (README).
Neighbours of memory and cache move it by up to 60 %, which no reading shows and no extra covers."""

WAIT_EXTRA_OF_ARMS_MOST: Final = 0.3
"""log units; ln of 25.0 % beside 8 neighbours of CPU, the farthest of those medians, is -0.288 (README)."""

FORMER_WAIT_EXTRA: Final = 0.25
"""WAIT_EXTRA of `paired-sign-test/2`, by which stored reports are made again."""

FORMER_WAIT_EXTRA_MOST: Final = 0.06
"""WAIT_EXTRA_MOST of `paired-sign-test/2`."""

STEAL_EXTRA: Final = 0.5
"""log units of extra margin per share of the time that a hypervisor took, up to STEAL_EXTRA_MOST. Generous, because no
hypervisor was measured."""

STEAL_EXTRA_MOST: Final = 0.12
"""log units, as generous."""

DRIFT_CONFIDENCE: Final = 0.99
"""probability; two-sided interval of how far the arms of a pair parted while their target drifted. What they may have
parted by is demanded beyond the margin (README)."""

WAIT_MEASURED: Final = 0.80
"""share; the longest waiting under which pairs were measured. Beyond it nothing is known, and nothing is decided."""

WARM_SLOWDOWN: Final = 0.30
"""ratio minus 1; how much slower a moderately warm phone is assumed to have become. Not measured, so generous."""

LAUNCHES_WORTH_NAMING: Final = 100
"""launches; a comparison that needs more will hardly be repeated with them."""

LAUNCHES_RESERVE: Final = 2.0
"""times the launches with which an interval would just clear its margin, so that most repetitions do."""

# --- Gates ----------------------------------------------------------------------------------------
GATE_CONFIDENCE: Final = 0.98
"""probability; two-sided interval of a gated statistic, each bound alone is wrong once in 100. A gate fails
or passes only when the whole interval lies on one side; a p99 then needs 459 samples, a p99.9 4,603."""
GATE_CLOSE_SHARE: Final = 0.30
"""share; a value that misses its level by at most this is called close, otherwise below."""

# --- Derived metrics ------------------------------------------------------------------------------
DERIVED_CONFIDENCE: Final = 0.998
"""probability; the same as for arm ratios, beside which derived ratios are shown. §2"""

# --- Usage policy advice (§3) ----------------------------------------------------------------------
POLICY_CONFIDENCE: Final = 0.95
"""probability; two-sided interval of a crossover or of warm-up rounds. Advice is read by people and alerts
nobody. §3"""

POLICY_WARMUP_ROUNDS: Final = 30
"""rounds of a fresh process that are examined; a library that is slow for longer is slow, not cold. §3"""

# --- Measurements ---------------------------------------------------------------------------------
MEDIAN_CONFIDENCE: Final = 0.99
"""probability; two-sided interval of a measurement's median, shown as spread of a point but never decisive;
8 samples suffice. §4"""

# --- History (§4) ---------------------------------------------------------------------------------
# Chosen on the data sets that scripts/detectors scores and on fresh ones; see docs/detection.md.
HISTORY_MIN_POINTS: Final = 12
"""points; with fewer, the scatter of neither side is known. §4"""

HISTORY_MAX_POINTS: Final = 1000
"""points; older ones cost time and do not inform the present level. §4.2"""

HISTORY_POINTS_A_SIDE: Final = 4
"""points; three may come from a single disturbed afternoon. §4.4"""

HISTORY_CONFIRM_POINTS: Final = 5
"""points after a change before it is reported without an A/B job. §4.5"""

HISTORY_EVALUATIONS: Final = 2
"""consecutive evaluations that must find a change at the same place before it is reported without an A/B
job. §4.5"""

HISTORY_MIN_STEP: Final = 0.02
"""ratio minus 1; smaller moves of a level are not counted as steps: an arm rule's default margin. §2"""

HISTORY_MIN_EFFECT: Final = 0.015
"""ratio minus 1 between the medians of both sides; lower than HISTORY_MIN_STEP by the error of these medians.
The original 3 % (§4.4) rejected a tenth of the true steps in real data."""

HISTORY_MIN_PROBABILITY: Final = 0.5
"""probability that a step lies within HISTORY_WINDOW points of the index: more likely than not."""

HISTORY_EDGE_POINTS: Final = 20
"""points between a step and an end of the series, below which stricter limits apply. §4.5"""

HISTORY_EDGE_PROBABILITY: Final = 0.8
"""probability for steps near an end: they are tested again at every push, so they get many chances."""

HISTORY_WINDOW: Final = 5
"""points either side of an index that count as the same place: the scored margin. §5"""

HISTORY_MAX_P: Final = 0.05
"""probability; Mann-Whitney between the sides, corrected for dependence. A model-free second opinion, so not
strict: at 1e-3 it rejected a sixth of the true steps. §4.4"""

HISTORY_EDGE_MAX_P: Final = 0.2
"""the same for steps near an end: six points with heavy tails cannot reach less."""

HISTORY_SIDE_POINTS: Final = 100
"""points per side for the rank test and the interval: the nearest are the most relevant. §4.4"""

HISTORY_MIN_SHIFT_SIGMA: Final = 0.5
"""pooled sigmas; below, the levels overlap too much. §4.4"""

HISTORY_LOCATION_MASS: Final = 0.95
"""share of a step's probability that its location interval must hold."""

HISTORY_CONFIDENCE: Final = 0.99
"""probability; interval of the effect, which is shown but is no filter."""

HISTORY_CHANGE_RATE: Final = 1e-3
"""prior probability of a step per point: about one a year with three runs a day."""

HISTORY_SCALE_FLOOR: Final = 0.0025
"""log units; an eighth of HISTORY_MIN_STEP: finer scatter never matters beside the smallest step."""

HISTORY_TEMPERING: Final = 1.3
"""points that count as one without visible dependence: covers what three lags and clipped scores miss."""

HISTORY_FIRST_TEMPERING: Final = 1.2
"""the same before the density is fitted; low, because a step missed then looks like dependence later."""

HISTORY_SMALL_SAMPLE: Final = 10.0
"""points; evidence is also divided by 1 + this / n, because the density is fitted to n points."""

HISTORY_DEPENDENCE_LAGS: Final = 3
"""lags of the long-run variance; more add noise, fewer miss repeated blocks. §4.6"""

HISTORY_FITS: Final = 2
"""rounds of fitting density and dependence to the residuals; a third gains nothing."""

HISTORY_NOISE_PRIOR_POINTS: Final = 4.0
"""points of pseudo data that keep a density near that of a typical host."""

HISTORY_FALSE_DISCOVERY_Q: Final = 0.05
"""expected share of false findings among the series of a round (Benjamini & Hochberg 1995). §4.6"""

TARGET_SHIFT_SHARE: Final = 0.30
"""share of a target's series; a change of the code rarely touches a third of unrelated benchmarks. §4.7"""

TARGET_SHIFT_RUNS: Final = 2
"""runs within which steps count as simultaneous: about the precision of a step's location. §4.7"""

TARGET_SHIFT_HORIZON: Final = 100
"""newest runs of a target that are searched for shifts of the whole target; older changes keep their marks. §4.7"""

# --- Noise floor (I14) ------------------------------------------------------------------------------
NOISE_POWER: Final = 0.80
"""probability of detecting an effect of the size of the MDE at the first look: the customary power of an
experiment (Cohen 1988)."""

NOISE_MARGIN: Final = 1.25
"""times the MDE; proposed threshold of a rule. The MDE has 80 % power, and a quarter more is detected nearly
always."""

NOISE_RULE_EFFECT: Final = 0.03
"""ratio minus 1; the smallest proposed threshold: less is not worth a person's time on a host. §4.4"""

NOISE_HISTORY_SIGMAS: Final = 2.4
"""sigmas of a series' scatter; the step that a Mann-Whitney test of 30 old and 5 new points detects at
p = 0.001 with 80 % power (simulated; a test repeats it). §4.4, §4.5"""
