import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";
import { createFastServer } from "@/lib/http/fast-server";
import { routes } from "@/lib/routes.gen";

/** The API of this process's services over real HTTP, as `server.ts` serves it. @returns its URL, `/api` included */
export const serveApi = async (): Promise<string> => {
  const { server, close } = createFastServer({
    routes,
    fallbackPrefixes: [],
    fallback: (_, outgoing) => {
      outgoing.statusCode = 404;
      outgoing.end();
      return Promise.resolve();
    },
    fallbackHeaders: {},
    publicUrl: "http://localhost:3000",
    logLevel: "silent",
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterAll(() => close(1_000));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/api`;
};
