import { cookies, headers } from "next/headers";
import { createApiClient, type ApiClient } from "@/lib/api-client/client";
import { getServices } from "@/lib/composition";
import { FRESHNESS_COOKIE, FRESHNESS_HEADER } from "@/lib/core/fresh-cache";
import type { RouteHandler } from "./pipeline";
import { readPreferences } from "./preferences";
import { createRouteTable } from "./route-table";
import { getBrowserSession } from "./session";

interface PageRoute {
  /** The route's path in Next's notation: `/api/operations/[id]`. */
  readonly path: string;
  readonly GET: RouteHandler;
}

const BASE_PATH = "/api";
/**
 * Headers of the person's request that the routes need: limits and the audit trail refer to the
 * person, not to this process.
 */
const PASSED_HEADERS = ["x-forwarded-for", "user-agent"];

/** Calls a route module like Next does, but without a connection. */
const callInProcess = (routes: readonly PageRoute[], publicUrl: string): typeof fetch => {
  const find = createRouteTable(routes);
  return async (input, init) => {
    const request = new Request(
      new URL(input instanceof Request ? input.url : input, publicUrl),
      init,
    );
    const match = find(new URL(request.url).pathname);
    if (match === null)
      throw new Error(`No page may ask for ${new URL(request.url).pathname}.`);
    return match.entry.GET(request, { params: Promise.resolve({ ...match.params }) });
  };
};

/**
 * The API for server components: the routes, permissions, limits and answers that the browser would
 * get, called with the session of the person's cookie. The access token never leaves the server.
 * Null when nobody is signed in.
 */
export const createPageApi = async (
  routes: readonly PageRoute[],
): Promise<ApiClient | null> => {
  const [session, sent, jar, { project }] = await Promise.all([
    getBrowserSession(),
    headers(),
    cookies(),
    readPreferences(),
  ]);
  if (session?.accessToken === undefined) return null;
  const own = new Headers({ authorization: `Bearer ${session.accessToken}` });
  if (project !== null) own.set("x-project-id", project);
  const freshness = jar.get(FRESHNESS_COOKIE)?.value;
  if (freshness !== undefined) own.set(FRESHNESS_HEADER, freshness);
  for (const name of PASSED_HEADERS) {
    const value = sent.get(name);
    if (value !== null) own.set(name, value);
  }
  const { publicUrl } = getServices().config;
  return createApiClient({
    baseUrl: BASE_PATH,
    headers: () => own,
    fetch: callInProcess(routes, publicUrl),
  });
};
