import { dehydrate, HydrationBoundary, QueryClient } from "@tanstack/react-query";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReactNode } from "react";
import type { PageQuery } from "@/components/features/session/query-key";
import type { ApiClient, CallOptions } from "@/lib/api-client/client";
import type { Callable, ResponseOf } from "@/lib/contracts/contract";
import { createPageApi } from "@/lib/http/page-api";
import { PAGE_ROUTES } from "./routes";

/** A page waits for its data no longer than this; the browser asks for the rest. */
const WAIT_MS = 600;

// For a contract that is not known by its type, the compiler cannot see that the options fit; `pageQuery` has checked them.
const ask = (api: ApiClient, { contract, input }: PageQuery): Promise<ResponseOf<Callable>> =>
  (api.call as (contract: Callable, input: CallOptions<Callable>) => Promise<ResponseOf<Callable>>)(contract, input);

const read = async (api: ApiClient, client: QueryClient, query: PageQuery): Promise<void> => {
  const answer = await ask(api, query);
  client.setQueryData(query.key, query.paged ? { pages: [answer], pageParams: [null] } : answer);
};

interface PrefetchedProps {
  readonly queries: readonly PageQuery[];
  readonly children: ReactNode;
}

/**
 * Draws `children` with the answers of `queries` in place, on the server and in the browser. An answer that is refused or late is left
 * out; the browser then asks itself, and shows the error as every page does.
 */
export const Prefetched = async ({ queries, children }: PrefetchedProps): Promise<ReactNode> => {
  const api = await createPageApi(PAGE_ROUTES);
  if (api === null) return children;
  const client = new QueryClient();
  const all = Promise.allSettled(queries.map((query) => read(api, client, query)));
  const late = new AbortController();
  await Promise.race([all, sleep(WAIT_MS, null, { signal: late.signal }).catch(() => null)]);
  late.abort();
  return <HydrationBoundary state={dehydrate(client)}>{children}</HydrationBoundary>;
};
