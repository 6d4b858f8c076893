import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createFastServer } from "@/lib/http/fast-server";
import type { HttpServices } from "@/lib/http/services";
import { routes } from "@/lib/routes.gen";
import { afterFile } from "./after-file";

/**
 * Serves the API of these services over real HTTP like `server.ts`.
 * @returns its URL, including `/api`
 */
export const serveApi = async (services: HttpServices): Promise<string> => {
  const { server, close } = createFastServer({
    routes,
    fallbackPrefixes: [],
    pages: ({ outgoing }) => void outgoing.writeHead(404).end(),
    pageHeaders: () => ({}),
    services,
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => close(1_000));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/api`;
};
