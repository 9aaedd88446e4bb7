/** A backend in which a series of `lab-host` changed its level, with one alert and all of its evidence. */
import { abReport, changeAlert } from './fixtures-changes';
import type { FakeBackend } from './fake-backend';

export function addChangeScenario(backend: FakeBackend): void {
  const made = changeAlert();
  backend.alerts.set(made.id, made);
  backend.reports.set('job-ab', abReport());
}
