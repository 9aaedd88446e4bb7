/** Intercepts the requests of tests. */
import { setupServer } from 'msw/node';

export const server = setupServer();
