"use client";

import { useQueryClient } from "@tanstack/react-query";
import { CalendarClock, KeyRound, type LucideIcon, Webhook } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ConfirmChangeDialog } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useApi } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import { type listMadeThings, restoreMadeThings } from "@/lib/api-client/calls.gen";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";

interface SuspendedNoticeProps {
  readonly thing: MadeName;
  readonly suspendedAt: string | null;
  /** A sentence with the consequence for this kind of thing. */
  readonly children: ReactNode;
}

/**
 * Explains why a thing is suspended, and restores it. Renders nothing when the thing is not
 * suspended.
 */
export const SuspendedNotice = ({
  thing,
  suspendedAt,
  children,
}: SuspendedNoticeProps): ReactNode => {
  const [restoring, setRestoring] = useState<readonly MadeName[] | null>(null);
  if (suspendedAt === null) return null;
  return (
    <>
      <Alert
        tone="warning"
        title="Suspended"
        actions={
          <Button size="sm" onClick={() => setRestoring([thing])}>
            Restore …
          </Button>
        }
      >
        It was made without a code or a signature, and the session that made it was ended{" "}
        <Time value={suspendedAt} />. {children}
      </Alert>
      {restoring === null ? null : (
        <RestoreDialog items={restoring} onClose={() => setRestoring(null)} />
      )}
    </>
  );
};

interface RestoreDialogProps {
  readonly items: readonly MadeName[];
  readonly onClose: () => void;
}

export const RestoreDialog = ({ items, onClose }: RestoreDialogProps): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const name = `session_made.restore ${items.map(({ id }) => id).join(" ")}`;
  const restore = useApprovable<BodyInput<typeof restoreMadeThings>>(
    name,
    async (body, proof) => {
      await api.call(restoreMadeThings, { body: { ...body, ...proof } });
      // Reads all queries again, because lists of keys, endpoints and schedules also show the
      // suspension.
      await queryClient.invalidateQueries();
      toast.success(items.length === 1 ? "It works again." : "They work again.");
      onClose();
    },
  );
  return (
    <ConfirmChangeDialog
      change={restore}
      onClose={onClose}
      title={items.length === 1 ? "Restore this?" : `Restore these ${String(items.length)}?`}
      description="Restore only what you know. It works again at once, and goes on when you end sessions."
      input={{ items: items.map(({ kind, id }) => ({ kind, id })) }}
      money="Nothing was restored."
      act="Restore"
    >
      <p className="text-fg-2">
        A code, a passkey, an authenticator app or your wallet approves this in the next step.
      </p>
    </ConfirmChangeDialog>
  );
};

interface ThingsListProps {
  readonly label: string;
  readonly things: readonly (Pick<MadeThing, "kind" | "name" | "projectName"> & {
    readonly id?: string;
  })[];
  /** Renders the button of the thing with this id. */
  readonly action?: (id: string) => ReactNode;
}

export const ThingsList = ({ label, things, action }: ThingsListProps): ReactNode => (
  <ul aria-label={label} className="divide-y">
    {things.map(({ kind, id, name, projectName }, index) => {
      const { word, icon: Icon } = KIND_LOOKS[kind];
      return (
        <li
          key={id ?? index}
          className="flex flex-wrap items-center justify-between gap-2 py-2"
        >
          <span className="flex min-w-0 flex-1 items-start gap-2">
            <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-fg-3" />
            <span className="min-w-0">
              <span className="block font-medium wrap-anywhere">{name}</span>
              <span className="block text-sm text-fg-3">
                {word} of {projectName}
              </span>
            </span>
          </span>
          {action === undefined || id === undefined ? null : action(id)}
        </li>
      );
    })}
  </ul>
);

export type MadeThing = ResponseOf<typeof listMadeThings>["data"][number];
export type MadeName = Pick<MadeThing, "kind" | "id">;

export const KIND_LOOKS: Readonly<
  Record<MadeThing["kind"], { readonly word: string; readonly icon: LucideIcon }>
> = {
  api_key: { word: "API key", icon: KeyRound },
  webhook_endpoint: { word: "Webhook endpoint", icon: Webhook },
  payout_schedule: { word: "Payout schedule", icon: CalendarClock },
};

/** `1 session`, `3 sessions`. */
export const countOf = (count: number, [one, many]: readonly [string, string]): string =>
  count === 1 ? `1 ${one}` : `${String(count)} ${many}`;
