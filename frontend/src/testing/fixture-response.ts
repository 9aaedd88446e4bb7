/** Answers one request from the fixtures; used by the development server's fixture mode only. */
import { getResponse } from 'msw';

import { addChangeScenario } from './scenario-change';
import { addDevicesScenario } from './scenario-devices';
import { handlersFor } from './handlers';
import { addHashingScenario } from './scenario-hashing';
import { createFakeBackend } from './fake-backend';

const backend = createFakeBackend();
addHashingScenario(backend);
addChangeScenario(backend);
addDevicesScenario(backend);
const handlers = handlersFor(backend);

export function respond(request: Request): Promise<Response | undefined> {
  return getResponse(handlers, request);
}
