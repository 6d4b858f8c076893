"use client";

import { type ReactNode, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import {
  countOf,
  type MadeName,
  type MadeThing,
  RestoreDialog,
  ThingsList,
} from "@/components/features/session-made/made-things";
import { apiQuery } from "@/components/features/session/api-query";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { useSignOut } from "@/components/features/session/use-sign-out";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ActionDialog } from "@/components/ui/dialog";
import { ActionError, QueryContent } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import {
  listMadeThings,
  listSessions,
  revokeOtherSessions,
  revokeSession,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

type Session = ResponseOf<typeof listSessions>["data"][number];

export const SessionsCard = (): ReactNode => {
  const sessions = useQuery(apiQuery(listSessions, {}));
  const made = useQuery(apiQuery(listMadeThings, {}));
  const cache = useCache();
  const [asking, setAsking] = useState(false);
  const others = useApiMutation(revokeOtherSessions);
  const reload = (): Promise<void> => cache.refresh(listSessions, listMadeThings);
  const endOthers = async (): Promise<void> => {
    const ended = await others.mutateAsync({});
    await reload();
    toast.success(endedWords(ended));
  };
  const rows = sessions.data?.data ?? [];
  const things = made.data?.data ?? [];
  const working = things.filter(({ suspendedAt }) => suspendedAt === null);
  const current = rows.find((session) => session.current)?.id;
  const ofOthers = working.filter(({ sessionId }) => sessionId !== current);
  return (
    <Card
      id="sessions"
      title="Sessions"
      description="Where you are signed in. One that you end stops within a second, and what it made without a code or a signature is suspended."
      actions={
        rows.length > 1 || ofOthers.length > 0 ? (
          <Button size="sm" onClick={() => setAsking(true)}>
            End all others
          </Button>
        ) : undefined
      }
      flush
    >
      <QueryContent query={sessions} what="your sessions" rows={2}>
        {() => (
          <ul className="divide-y">
            {rows.map((session) => (
              <SessionRow
                key={session.id}
                session={session}
                made={working.filter(({ sessionId }) => sessionId === session.id)}
                onEnded={reload}
              />
            ))}
          </ul>
        )}
      </QueryContent>
      <SuspendedThings things={things.filter(({ suspendedAt }) => suspendedAt !== null)} />
      <ActionDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="End all other sessions?"
        description={
          <>
            <p>You stay signed in here. Every other session stops within a second.</p>
            <Suspends things={ofOthers} />
          </>
        }
        action={others}
        confirmLabel="End all others"
        onConfirm={endOthers}
      />
    </Card>
  );
};

const endedWords = ({ revoked, suspended }: ResponseOf<typeof revokeOtherSessions>): string => {
  const sessions = `${countOf(revoked, ["session was", "sessions were"])} ended`;
  return suspended.length === 0
    ? `${sessions}.`
    : `${sessions}, and ${countOf(suspended.length, ["thing", "things"])} suspended.`;
};

/** Shows in advance which things are suspended when sessions are ended. */
const Suspends = ({ things }: { readonly things: readonly MadeThing[] }): ReactNode =>
  things.length === 0 ? null : (
    <div className="mt-2">
      <p>
        This also suspends what those sessions, and earlier ones, made without a code or a
        signature:
      </p>
      <div className="max-h-[min(18rem,40dvh)] overflow-y-auto">
        <ThingsList label="Will be suspended" things={things} />
      </div>
      <p>You can restore what is yours with a code, a passkey or a signature.</p>
    </div>
  );

interface SessionRowProps {
  readonly session: Session;
  /** Things that this session created without a proof and that still work. */
  readonly made: readonly MadeThing[];
  readonly onEnded: () => Promise<void>;
}

const SessionRow = ({ session, made, onEnded }: SessionRowProps): ReactNode => {
  const signOut = useSignOut();
  const [asking, setAsking] = useState(false);
  const revoke = useApiMutation(revokeSession);
  const end = async (): Promise<void> => {
    await revoke.mutateAsync({ params: { id: session.id } });
    await onEnded();
  };
  // The rejection is ignored, because the row shows `revoke.error`.
  const endAtOnce = (): void => void end().catch(() => undefined);
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 px-4 py-2.5">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {session.device} {session.current ? <Badge tone="success">This session</Badge> : null}
          {session.kind === "api" ? <Badge>API</Badge> : null}
        </p>
        <p className="text-sm text-fg-3">
          {session.address ?? "Unknown address"} · signed in <Time value={session.createdAt} />
          {session.lastUsedAt === null ? null : (
            <>
              {" "}
              · used <Time value={session.lastUsedAt} />
            </>
          )}
        </p>
      </div>
      {session.current ? (
        <Button size="sm" onClick={() => void signOut()}>
          Sign out
        </Button>
      ) : (
        <Button
          size="sm"
          aria-label={`End the session of ${session.device}`}
          loading={revoke.isPending}
          onClick={made.length === 0 ? endAtOnce : () => setAsking(true)}
        >
          End
        </Button>
      )}
      <ActionError error={revoke.error} />
      <ActionDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="End this session?"
        description={
          <>
            <p>It stops within a second.</p>
            <Suspends things={made} />
          </>
        }
        confirmLabel="End session"
        onConfirm={end}
      />
    </li>
  );
};

/** Things of ended sessions, and ways to restore them. Nothing is shown when there are none. */
const SuspendedThings = ({ things }: { readonly things: readonly MadeThing[] }): ReactNode => {
  const [restoring, setRestoring] = useState<readonly MadeName[] | null>(null);
  if (things.length === 0) return null;
  const thingOf = (id: string): MadeName[] => things.filter((thing) => thing.id === id);
  return (
    <section aria-label="Suspended" className="border-t px-4 py-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-semibold">Suspended</h3>
        {things.length > 1 ? (
          <Button size="sm" onClick={() => setRestoring(things)}>
            Restore all …
          </Button>
        ) : null}
      </div>
      <p className="text-sm text-fg-3">
        Sessions that were ended had made this without a code or a signature. It does nothing
        until you restore it; revoke or delete what is not yours.
      </p>
      <ThingsList
        label="Suspended things"
        things={things}
        action={(id) => (
          <Button size="sm" onClick={() => setRestoring(thingOf(id))}>
            Restore …
          </Button>
        )}
      />
      {restoring === null ? null : (
        <RestoreDialog items={restoring} onClose={() => setRestoring(null)} />
      )}
    </section>
  );
};
