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
export type PreflightFinding = Schemas['PreflightFindingOut'];
export type Run = Schemas['RunOut'];
export type RunRequest = Schemas['RunIn'];
export type RunState = Run['state'];
export type Trigger = Run['trigger'];
export type Job = Schemas['JobOut'];
export type JobState = Job['state'];
export type Cause = NonNullable<Job['cause']>;
export type Progress = Schemas['ProgressOut'];
export type Verdict = NonNullable<Run['verdict']>;
export type LogLine = Schemas['LogLineOut'];
export type Conditions = Schemas['ConditionsOut'];
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
export type LiveEvent = paths['/api/v1/stream']['get']['responses'][200]['content']['text/event-stream'];
export type LiveKind = LiveEvent['kind'];
export type Overview = Schemas['OverviewOut'];
export type Alert = Schemas['AlertOut'];
export type AlertDetail = Schemas['AlertDetailOut'];
export type AlertState = Alert['state'];
export type AlertAction = AlertDetail['actions'][number];
export type AlertEvent = Schemas['AlertEventOut'];
export type Finding = Schemas['FindingOut'];
export type Filter = Schemas['FilterOut'];

export interface Page<T> {
  items: T[];
  next: string | null;
}
