"use client";

import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { joinQueries, QueryCard, StaleNotice } from "@/components/ui/states";
import { joinPages, type Pages } from "./use-lists";

interface PagedCardProps<Item> {
  readonly list: Pages<Item>;
  /** The plural noun of the listed records: `accounts`. */
  readonly what: string;
  /** Says where the money is while the list cannot be read. */
  readonly money: string;
  readonly title?: ReactNode;
  /** Shown in place of an empty list. */
  readonly empty: ReactNode;
  readonly children: (items: readonly Item[]) => ReactNode;
}

export const PagedCard = <Item,>({
  list,
  money,
  children,
  ...card
}: PagedCardProps<Item>): ReactNode => {
  const joined = list.data && joinPages(list.data);
  return (
    <>
      {list.isError && joined !== undefined ? (
        <StaleNotice title="The list could not be refreshed" money={money} />
      ) : null}
      <QueryCard query={joinQueries([list], joined)} rows={8} money={money} {...card}>
        {({ data }) => children(data)}
      </QueryCard>
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
