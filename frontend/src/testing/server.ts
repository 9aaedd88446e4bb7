/** The interceptor of the tests' requests. */
import { setupServer } from 'msw/node';

export const server = setupServer();
