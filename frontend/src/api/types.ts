/** Short names of the wire shapes (contract C2). Everything here is an alias of the generated schema. */
import type { components, paths } from './schema.gen';

type Schemas = components['schemas'];

export type Account = Schemas['AccountOut'];
export type Session = Schemas['SessionOut'];
export type Scope = Session['scopes'][number];
export type Suite = Schemas['SuiteOut'];
export type Preset = Schemas['PresetOut'];
export type Benchmark = Schemas['BenchmarkOut'];
export type Param = Schemas['ParamOut'];
export type Knob = Schemas['KnobOut'];
export type Agent = Schemas['AgentOut'];
export type Target = Schemas['TargetOut'];
export type Connection = Schemas['ConnectionOut'];
export type HealthState = Schemas['HealthOut']['state'];
export type TargetAction = NonNullable<Target['actions']>[number];
export type HealthCheck = NonNullable<Target['check']>;
export type CheckStep = Schemas['CheckStepOut'];
export type ConfigurationError = Schemas['ConfigurationErrorOut'];
export type Order = Schemas['OrderOut'];
export type TargetEvent = Schemas['TargetEventOut'];
export type EventAxis = TargetEvent['axis'];
export type TargetConditions = Schemas['TargetConditionsOut'];
export type ConditionTrack = TargetConditions['tracks'][number];
export type JobConditions = TargetConditions['jobs'][number];
/** What one command on a device printed. */
export type RawText = Schemas['RawOut'];
export type PreflightFinding = Schemas['PreflightFindingOut'];
export type Run = Schemas['RunOut'];
export type RunRequest = Schemas['RunIn'];
export type RunEstimate = Schemas['RunEstimateOut'];
export type RunState = Run['state'];
/** The one word for how a run or a job stands. */
export type Outcome = Run['outcome'];
export type Trigger = Run['trigger'];
export type Job = Schemas['JobOut'];
export type Failure = Schemas['FailureOut'];
export type JobState = Job['state'];
export type Cause = NonNullable<Job['cause']>;
export type Progress = Schemas['ProgressOut'];
export type Verdict = NonNullable<Run['verdict']>;
export type LogLine = Schemas['LogLineOut'];
export type Conditions = Schemas['ConditionsOut'];
/** A line of a device's log with an app's own figures. */
export type Reported = Schemas['ReportedLineOut'];
export type Comparison = Schemas['ComparisonOut'];
/** Of a comparison or a gate; a run or a job has a `Verdict`. */
export type Judged = Comparison['verdict'];
export type JobReport = Schemas['JobReportOut'];
export type Measurement = Schemas['MeasurementOut'];
export type Gate = Schemas['GateOut'];
export type Derived = Schemas['DerivedOut'];
export type Audit = Schemas['AuditOut'];
export type Unavailable = Schemas['UnavailableOut'];
export type Arms = Schemas['ArmsOut'];
export type Distribution = Schemas['DistributionOut'];
export type LiveSeries = Schemas['LiveSeriesOut'];
export type LiveEvent =
  paths['/api/v1/stream']['get']['responses'][200]['content']['text/event-stream'];
export type LiveKind = LiveEvent['kind'];
export type Overview = Schemas['OverviewOut'];
export type Alert = Schemas['AlertOut'];
export type AlertDetail = Schemas['AlertDetailOut'];
export type AlertState = Alert['state'];
export type AlertAction = AlertDetail['actions'][number];
export type AlertEvent = Schemas['AlertEventOut'];
export type Finding = Schemas['FindingOut'];
export type Filter = Schemas['FilterOut'];
export type Series = Schemas['SeriesOut'];
export type SeriesPage = Schemas['SeriesPageOut'];
export type SeriesPoint = Schemas['PointOut'];
export type SeriesPoints = Schemas['PointsOut'];
export type Change = Schemas['ChangeOut'];
export type Segment = Schemas['SegmentOut'];
export type Environment = Schemas['EnvironmentOut'];
export type NoiseBand = Schemas['NoiseBandOut'];
export type RuleInForce = Schemas['RuleInForceOut'];
export type Annotation = Schemas['AnnotationOut'];
export type AnnotationRequest = Schemas['AnnotationIn'];
export type Matrix = Schemas['MatrixOut'];
export type MatrixRow = Schemas['MatrixRowOut'];
export type MatrixCell = Schemas['MatrixCellOut'];
export type MatrixUnmeasured = Schemas['MatrixUnmeasuredOut'];
export type Compare = Schemas['CompareOut'];
export type CompareRow = Schemas['CompareRowOut'];
export type CompareSide = Schemas['CompareSideOut'];
export type Completeness = Schemas['CompletenessOut'];
export type MissingCase = Schemas['MissingCaseOut'];
export type MissingGroup = Schemas['MissingGroupOut'];
export type Gone = Schemas['GoneOut'];
export type Retired = Schemas['RetiredOut'];
export type Rule = Schemas['AlertRuleOut'];
export type RuleDetail = Schemas['AlertRuleDetailOut'];
/** The one rule that decides about a measurement; `rule_id` null: a built-in default. */
export type AppliedRule = Schemas['AppliedOut'];
export type RuleVersion = Schemas['AlertRuleVersionOut'];
export type RuleRequest = Schemas['AlertRuleIn'];
export type RuleKind = Rule['kind'];
export type RuleMode = Rule['mode'];
export type Mute = Schemas['MuteOut'];
export type Replay = Schemas['ReplayOut'];
export type Fired = Schemas['FiredOut'];
export type Orphans = Schemas['OrphansOut'];
export type Explanation = Schemas['ExplanationOut'];
export type ExplainedFinding = Schemas['ExplainedFindingOut'];
export type Bisection = Schemas['BisectionOut'];
export type BisectionStep = Schemas['BisectionStepOut'];
export type Culprit = Schemas['CulpritOut'];
export type AlertKind = Alert['kind'];
export type AlertCause = NonNullable<Alert['cause']>;
export type TriageBatch = Schemas['TriageBatchOut'];
export type BulkRequest = Schemas['BulkIn'];
export type AuditEntry = Schemas['AuditEntryOut'];
export type Schedule = Schemas['ScheduleOut'];
export type ScheduleRequest = Schemas['ScheduleIn'];
export type ScheduleChange = Schemas['SchedulePatchIn'];
export type NoiseFloor = Schemas['NoiseFloorOut'];
export type PolicyAdvice = Schemas['PolicyAdviceOut'];

export type ImportedDocument = Schemas['ImportOut'];
export type ImportDetail = Schemas['ImportDetailOut'];
export type ImportedRun = Schemas['ImportedRunOut'];
export type ImportedRow = Schemas['ImportedRowOut'];
export type ImportedAdvice = Schemas['ImportedAdviceOut'];

export interface Page<T> {
  items: T[];
  next: string | null;
}
