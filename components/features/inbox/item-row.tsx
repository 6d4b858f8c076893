"use client";

import Link from "next/link";
import type { ComponentProps, ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { SelectBox } from "@/components/ui/selection";
import { ItemAmount, ItemMaker, ItemTime, ReviewLink, useItemTitle } from "./item-parts";
import { ItemFacts, ItemMark } from "./item-recipient";
import { type InboxItem, isVotable } from "./looks";
import { VoteButtons } from "./vote-buttons";

interface RowProps {
  readonly item: InboxItem;
  readonly isSelected: boolean;
  readonly onVote: ComponentProps<typeof VoteButtons>["onVote"];
  /**
   * Called when the person selects the item. Undefined in lists whose items cannot be selected.
   */
  readonly onSelected: ((isRange: boolean) => void) | undefined;
}

/** One item of the inbox: two lines in columns, and a card on phones. */
export const ItemRow = ({ item, isSelected, onVote, onSelected }: RowProps): ReactNode => {
  const title = useItemTitle()(item);
  return (
    <li
      className={cn(
        "flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5",
        "lg:grid lg:grid-cols-[minmax(0,1fr)_11rem_12rem_11rem]",
        onSelected !== undefined && "lg:grid-cols-[1.25rem_minmax(0,1fr)_11rem_12rem_11rem]",
      )}
    >
      {onSelected === undefined ? null : (
        <Selection title={title} isSelected={isSelected} onSelected={onSelected} item={item} />
      )}
      <div className="min-w-0 flex-1 basis-60">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Link href={item.path} className="font-medium wrap-anywhere hover:underline">
            {title}
          </Link>
          <ItemMark item={item} />
        </div>
        <SecondLine item={item} />
      </div>
      <div className="ml-auto text-right lg:ml-0">
        <ItemAmount item={item} />
      </div>
      <div className="min-w-0 basis-full text-sm lg:text-base">
        {item.by === null ? null : (
          <p className="truncate">
            <ItemMaker item={item} />
          </p>
        )}
        <p className="truncate text-fg-3">
          <ItemTime item={item} />
        </p>
      </div>
      <div className="flex w-full justify-end gap-2 lg:w-auto">
        {isVotable(item) ? (
          <VoteButtons item={item} onVote={onVote} />
        ) : (
          <ReviewLink item={item} />
        )}
      </div>
    </li>
  );
};

interface SelectionProps extends Pick<RowProps, "item" | "isSelected"> {
  readonly title: string;
  readonly onSelected: (isRange: boolean) => void;
}

const Selection = ({ item, title, isSelected, onSelected }: SelectionProps): ReactNode =>
  isVotable(item) ? (
    <SelectBox label={title} checked={isSelected} onToggle={onSelected} />
  ) : (
    <span className="hidden lg:block" />
  );

const SecondLine = ({ item }: Pick<RowProps, "item">): ReactNode => (
  <>
    {item.movement === null ? null : (
      <p className="text-fg-2 wrap-anywhere">
        <ItemFacts item={item} />
      </p>
    )}
    {isVotable(item) ? null : <p className="text-fg-2 wrap-anywhere">{item.toDo}</p>}
  </>
);
