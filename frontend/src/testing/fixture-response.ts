/** Answers one request from the fixtures; used by the development server's fixture mode only. */
import { getResponse } from 'msw';

import { withChange } from './scenario-change';
import { withDevices } from './scenario-devices';
import { handlersFor } from './handlers';
import { withHashing } from './scenario-hashing';
import { createWorld } from './fake-backend';

const world = createWorld();
withHashing(world);
withChange(world);
withDevices(world);
const handlers = handlersFor(world);

export function answer(request: Request): Promise<Response | undefined> {
  return getResponse(handlers, request);
}
