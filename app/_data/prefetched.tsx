import {
  dehydrate,
  HydrationBoundary,
  QueryClient,
  type QueryKey,
} from "@tanstack/react-query";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReactNode } from "react";
import { readFrom } from "@/components/features/session/api-query";
import { createPageApi } from "@/lib/http/page-api";
import { PAGE_ROUTES } from "./routes";

/** Maximum time that a page waits for its data. The browser fetches answers that take longer. */
const WAIT_MS = 600;

/**
 * Query options of `apiQuery`, or list options of `apiPages`. Only the first page of a list is
 * read.
 */
interface PageQuery {
  readonly queryKey: QueryKey;
  readonly initialPageParam?: string | null;
}

const read = (
  client: QueryClient,
  { queryKey, initialPageParam }: PageQuery,
): Promise<unknown> =>
  initialPageParam === undefined
    ? client.query({ queryKey })
    : client.infiniteQuery({ queryKey, initialPageParam });

interface PrefetchedProps {
  /** The queries that the page's hooks use. `app/_data/routes.ts` must contain their routes. */
  readonly queries: readonly PageQuery[];
  readonly children: ReactNode;
}

/**
 * Runs `queries` on the server and draws `children` with their answers, so that the first HTML
 * already shows the data. An answer that is refused or late is left out; the browser then sends the
 * query again and shows the error as usual.
 */
export const Prefetched = async ({
  queries,
  children,
}: PrefetchedProps): Promise<ReactNode> => {
  const api = await createPageApi(PAGE_ROUTES);
  if (api === null) return children;
  const client = new QueryClient({ defaultOptions: { queries: { queryFn: readFrom(api) } } });
  const all = Promise.allSettled(queries.map((query) => read(client, query)));
  const late = new AbortController();
  await Promise.race([all, sleep(WAIT_MS, null, { signal: late.signal }).catch(() => null)]);
  late.abort();
  return <HydrationBoundary state={dehydrate(client)}>{children}</HydrationBoundary>;
};
