"use client";

import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import type { Pages } from "./use-pages";

interface PagedCardProps<Item> {
  readonly list: Pages<Item>;
  /** The plural noun of the listed records: `accounts`. */
  readonly what: string;
  /** Where the money is while the list cannot be read. */
  readonly money: string;
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  /** Stands where there is nothing. */
  readonly empty: ReactNode;
  readonly children: (items: readonly Item[]) => ReactNode;
}

/** A list by pages in all its states: loading, failed, empty, out of date, and with more to come. */
export const PagedCard = <Item,>({
  list,
  what,
  money,
  title,
  actions,
  empty,
  children,
}: PagedCardProps<Item>): ReactNode => {
  const items = list.data?.pages.flatMap((page) => page.data);
  return (
    <>
      {list.isError && items !== undefined ? (
        <Alert tone="warning" title="The list could not be refreshed">
          You see the last known one. The page tries again automatically. {money}
        </Alert>
      ) : null}
      <Card flush title={title} actions={actions}>
        {list.isPending ? (
          <LoadingRows what={what} rows={8} />
        ) : items === undefined ? (
          <ErrorState error={list.error} money={money} onRetry={() => void list.refetch()} />
        ) : items.length === 0 ? (
          empty
        ) : (
          children(items)
        )}
      </Card>
      {list.hasNextPage ? (
        <div className="flex justify-center">
          <Button loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : null}
    </>
  );
};
