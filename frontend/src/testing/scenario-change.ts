/** A world in which a series of `lab-host` moved: one alert about history with all of its evidence. */
import { abReport, changeAlert } from './fixtures-changes';
import type { World } from './fake-backend';

export function withChange(world: World): void {
  const made = changeAlert();
  world.alerts.set(made.id, made);
  world.reports.set('job-ab', abReport());
}
