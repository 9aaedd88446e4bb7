/** Requests about waivers, which let a failure pass visibly until a date. */
import { client, unwrap } from './client';
import type { Waiver, WaiverRequest } from './types';

export function createWaiver(body: WaiverRequest): Promise<Waiver> {
  return unwrap(client.POST('/api/v1/waivers', { body }));
}
