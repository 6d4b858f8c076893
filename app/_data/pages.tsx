import type { ReactNode } from "react";

interface RecordPageProps {
  readonly params: Promise<{ readonly id: string }>;
}

/** Makes a page for one record: passes the id in the path to `draw`. */
export const recordPage =
  (draw: (id: string) => ReactNode) =>
  async ({ params }: RecordPageProps): Promise<ReactNode> =>
    draw((await params).id);

interface ListPageProps {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/**
 * Makes a page with a list. `isPlain` says whether the address has no filters; only then does the
 * server prefetch the list, and the browser fetches a filtered one.
 */
export const listPage =
  (draw: (isPlain: boolean) => ReactNode) =>
  async ({ searchParams }: ListPageProps): Promise<ReactNode> =>
    draw(Object.keys(await searchParams).length === 0);
