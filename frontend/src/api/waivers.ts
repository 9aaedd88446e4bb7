/** Waivers: dated permissions for what fails to pass visibly. */
import { client, unwrap } from './client';
import type { Waiver, WaiverRequest } from './types';

export function createWaiver(body: WaiverRequest): Promise<Waiver> {
  return unwrap(client.POST('/api/v1/waivers', { body }));
}
