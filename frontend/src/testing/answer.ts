/** Answers one request from the fixtures; used by the development server's fixture mode only. */
import { getResponse } from 'msw';

import { withChange } from './changes-world';
import { withDevices } from './devices-world';
import { handlersFor } from './handlers';
import { withHashing } from './hashing-world';
import { createWorld } from './world';

const world = createWorld();
withHashing(world);
withChange(world);
withDevices(world);
const handlers = handlersFor(world);

export function answer(request: Request): Promise<Response | undefined> {
  return getResponse(handlers, request);
}
