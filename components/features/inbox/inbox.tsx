"use client";

import { CircleCheck } from "lucide-react";
import { parseAsArrayOf, parseAsString, useQueryState } from "nuqs";
import { type ComponentProps, type ReactNode, useCallback, useState } from "react";
import { useLiveQuery } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState, QueryPanel } from "@/components/ui/states";
import { PageHeader } from "@/components/ui/page-header";
import { type Selection, SelectionBar, useSelection } from "@/components/ui/selection";
import { DECISIONS_MAX } from "@/lib/core/approval-advice";
import { ApproveSelectedDialog } from "./approve-selected";
import { ItemRow } from "./item-row";
import { groupsOf, type InboxItem, inboxQuery, isVotable } from "./looks";
import { useVoteDialog } from "./vote-buttons";

const SELECTED = parseAsArrayOf(parseAsString).withDefault([]);

export const InboxPage = (): ReactNode => {
  const query = useLiveQuery(inboxQuery);
  const { data, error } = query;
  const items = data?.data ?? [];
  const selection = useVotes(items);
  const { onVote, dialog } = useVoteDialog();
  return (
    <>
      <PageHeader title="Inbox" description={descriptionOf(items, data !== undefined)} />
      {data !== undefined && error !== null ? (
        <Alert tone="warning" className="mb-4">
          The inbox cannot be read at the moment; this is what was there.
        </Alert>
      ) : null}
      <QueryPanel query={query} what="the inbox" rows={6} money="No money moves without you.">
        {({ data: listed }) => <Groups items={listed} selection={selection} onVote={onVote} />}
      </QueryPanel>
      <div className="sticky bottom-0 z-10 pt-4 pb-3 empty:hidden">
        <ApproveSelected items={items} selection={selection} />
      </div>
      {dialog}
    </>
  );
};

const descriptionOf = (items: readonly InboxItem[], isKnown: boolean): string => {
  const waiting = items.filter(({ mine }) => mine).length;
  if (!isKnown || waiting === 0) return "Everything that waits for a person.";
  const votable = items.filter(isVotable).length;
  const wait = `${String(waiting)} ${waiting === 1 ? "waits" : "wait"} for you.`;
  return votable > 1 ? `${wait} One proof can approve several.` : wait;
};

/**
 * The selection of requests to approve together. The page's address stores it, so that it survives
 * a reload.
 */
const useVotes = (items: readonly InboxItem[]): Selection => {
  const [ids, setIds] = useQueryState("selected", SELECTED);
  const keys = items.filter(isVotable).map(({ id }) => id);
  const store = useCallback(
    (next: readonly string[]) =>
      void setIds(next.length === 0 ? null : [...next], { history: "replace" }),
    [setIds],
  );
  return useSelection({ keys, stored: [ids, store] });
};

interface ApproveSelectedProps {
  readonly items: readonly InboxItem[];
  readonly selection: Selection;
}

const ApproveSelected = ({ items, selection }: ApproveSelectedProps): ReactNode => {
  const selected = items.filter(({ id }) => selection.selected.includes(id));
  // The items that were selected when the dialog opened. A vote removes them from the list while
  // the dialog still shows its result.
  const [approving, setApproving] = useState<readonly InboxItem[] | null>(null);
  const { length } = selected;
  return (
    <>
      <SelectionBar selection={selection}>
        <Button
          variant="primary"
          disabled={length > DECISIONS_MAX}
          title={
            length > DECISIONS_MAX
              ? `One proof approves ${String(DECISIONS_MAX)} requests at most.`
              : undefined
          }
          onClick={() => setApproving(selected)}
        >
          Approve selected ({length})
        </Button>
      </SelectionBar>
      {approving === null ? null : (
        <ApproveSelectedDialog items={approving} onClose={() => setApproving(null)} />
      )}
    </>
  );
};

interface GroupsProps {
  readonly items: readonly InboxItem[];
  readonly selection: Selection;
  readonly onVote: ComponentProps<typeof ItemRow>["onVote"];
}

const Groups = ({ items, ...rows }: GroupsProps): ReactNode => {
  const { waiting, problems, others } = groupsOf(items);
  return (
    <div className="flex flex-col gap-4">
      <Card title="Waiting for you" actions={<Count of={waiting} />} flush>
        {waiting.length === 0 ? (
          <EmptyState icon={CircleCheck} title="Nothing waits for you">
            Payments that need your approval appear here automatically.
          </EmptyState>
        ) : (
          <Rows label="Waiting for you" items={waiting} {...rows} />
        )}
      </Card>
      {problems.length === 0 ? null : (
        <Card title="Needs a look" actions={<Count of={problems} />} flush>
          <Rows label="Needs a look" items={problems} {...rows} />
        </Card>
      )}
      {others.length === 0 ? null : (
        <Card title="Waits for others" actions={<Count of={others} />} flush>
          <Rows label="Waits for others" items={others} {...rows} />
        </Card>
      )}
    </div>
  );
};

const Count = ({ of: { length } }: { readonly of: readonly InboxItem[] }): ReactNode => (
  <span className="num text-fg-3">{length}</span>
);

const Rows = ({
  label,
  items,
  selection,
  onVote,
}: GroupsProps & { readonly label: string }): ReactNode => {
  const isSelecting = items.some(isVotable);
  return (
    <ul className="divide-y" aria-label={label}>
      {items.map((item) => (
        <ItemRow
          key={`${item.kind} ${item.id}`}
          item={item}
          onVote={onVote}
          isSelected={selection.selected.includes(item.id)}
          onSelected={isSelecting ? (isRange) => selection.toggle(item.id, isRange) : undefined}
        />
      ))}
    </ul>
  );
};
