import type { ReactNode } from "react";

interface RecordPageProps {
  readonly params: Promise<{ readonly id: string }>;
}

export const recordPage =
  (draw: (id: string) => ReactNode) =>
  async ({ params }: RecordPageProps): Promise<ReactNode> =>
    draw((await params).id);

interface ListPageProps {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/**
 * Makes a page with a list. `isPlain` is true when the address has no filters. Only then does the
 * server prefetch the list; the browser fetches a filtered list.
 */
export const listPage =
  (draw: (isPlain: boolean) => ReactNode) =>
  async ({ searchParams }: ListPageProps): Promise<ReactNode> =>
    draw(Object.keys(await searchParams).length === 0);
