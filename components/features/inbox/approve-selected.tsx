"use client";

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { SentCode } from "@/components/features/money-flow/types";
import { useApi, useApiMutation } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { toast } from "@/components/ui/toast";
import { requestDecisionsCode } from "@/lib/api-client/calls.gen";
import { type SetVote, useSetVote } from "./decision";
import { ItemAmount, ItemMaker, ItemTitle } from "./item-parts";
import type { InboxItem } from "./looks";
import { VoteProof } from "./vote-proof";

interface SelectedProps {
  /** The requests that are approved together, at least one. */
  readonly items: readonly InboxItem[];
  readonly onClose: () => void;
}

const counted = (count: number): string => `${String(count)} request${count === 1 ? "" : "s"}`;

/** Lists every selected request, and approves all of them with one proof. */
export const ApproveSelectedDialog = ({ items, onClose }: SelectedProps): ReactNode => {
  const [refused, setRefused] = useState<readonly SetVote[]>([]);
  return (
    <Dialog
      title={`Approve ${counted(items.length)}`}
      description="One proof approves exactly these requests, and nothing else."
      onClose={onClose}
      size="lg"
      footer={
        refused.length === 0 ? undefined : (
          <Button variant="primary" onClick={onClose}>
            Close
          </Button>
        )
      }
    >
      {refused.length === 0 ? (
        <div className="flex min-w-0 flex-col gap-4">
          <SelectedList items={items} />
          <SetProof items={items} onRefused={setRefused} onClose={onClose} />
        </div>
      ) : (
        <RefusedVotes votes={refused} />
      )}
    </Dialog>
  );
};

const SelectedList = ({ items }: Pick<SelectedProps, "items">): ReactNode => (
  <section
    aria-label="Selection"
    tabIndex={0}
    className="max-h-[min(20rem,45dvh)] overflow-y-auto rounded-card border"
  >
    <ul aria-label="Selected requests" className="divide-y">
      {items.map((item) => (
        <SelectedItem key={item.id} item={item} />
      ))}
    </ul>
  </section>
);

const SelectedItem = ({ item }: { readonly item: InboxItem }): ReactNode => (
  <li className="flex flex-wrap items-baseline justify-between gap-x-4 px-3 py-2">
    <span className="min-w-0">
      <span className="block font-medium wrap-anywhere">
        <ItemTitle item={item} />
      </span>
      <span className="block text-sm wrap-anywhere text-fg-2">
        {item.movement?.recipient ?? item.title}
      </span>
      <span className="block text-sm text-fg-2">
        Asked for by <ItemMaker item={item} />
      </span>
    </span>
    <ItemAmount item={item} />
  </li>
);

interface SetProofProps extends SelectedProps {
  /** Called after all votes were sent, with the votes that were not counted. */
  readonly onRefused: (votes: readonly SetVote[]) => void;
}

const SetProof = ({ items, onRefused, onClose }: SetProofProps): ReactNode => {
  const ids = items.map(({ id }) => id);
  const api = useApi();
  const [byWallet, setByWallet] = useState(false);
  const asking = useApiMutation(requestDecisionsCode);
  const cast = useSetVote(ids);
  const text = useQuery({
    queryKey: ["text of a set of votes", ...ids],
    queryFn: () => api.call(requestDecisionsCode, { body: { ids, channel: "wallet" } }),
    enabled: byWallet,
    staleTime: Infinity,
  });
  const ask = async (channel: "email" | "passkey"): Promise<SentCode> => {
    const { sent } = await asking.mutateAsync({ body: { ids, channel } });
    if (sent === null) throw new Error("The service sent no code.");
    return sent;
  };
  return (
    <VoteProof
      request={{
        keptAs: ids.toSorted().join(" "),
        ask,
        sending: asking.isPending,
        sendError: asking.error ?? text.error,
      }}
      verdict="approve"
      message={text.data?.message}
      onWallet={() => setByWallet(true)}
      onVote={async (means) => {
        const votes = await cast(means);
        const refused = votes.filter(({ refusal }) => refusal !== null);
        const approved = votes.length - refused.length;
        toast.success(`Your approval of ${counted(approved)} was counted.`);
        if (refused.length === 0) onClose();
        else onRefused(refused);
      }}
    />
  );
};

const RefusedVotes = ({ votes }: { readonly votes: readonly SetVote[] }): ReactNode => (
  <Alert
    tone="warning"
    title={
      votes.length === 1
        ? "One vote was not counted. The others were."
        : `${String(votes.length)} votes were not counted. The others were.`
    }
  >
    <ul className="list-disc pl-4">
      {votes.map(({ decision, refusal }) => (
        <li key={decision.id} className="wrap-anywhere">
          {decision.title}: {refusal?.message}
        </li>
      ))}
    </ul>
  </Alert>
);
