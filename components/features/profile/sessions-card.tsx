"use client";

import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation, useApiQuery } from "@/components/features/session/use-api";
import { useSignOut } from "@/components/features/session/use-sign-out";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import type { ResponseOf } from "@/lib/contracts/contract";
import { listSessions, revokeOtherSessions, revokeSession } from "@/lib/api-client/calls.gen";

type Session = ResponseOf<typeof listSessions>["data"][number];

/** Where the person is signed in, and ways to end it. */
export const SessionsCard = (): ReactNode => {
  const sessions = useApiQuery(listSessions, {});
  const client = useQueryClient();
  const others = useApiMutation(revokeOtherSessions);
  const reload = (): Promise<void> => client.invalidateQueries({ queryKey: queryKeyOf(listSessions) });
  const endOthers = async (): Promise<void> => {
    const ended = await others.mutateAsync({}).catch(() => null);
    if (ended === null) return;
    await reload();
    toast.success(ended.revoked === 1 ? "1 session was ended." : `${String(ended.revoked)} sessions were ended.`);
  };
  const rows = sessions.data?.data ?? [];
  return (
    <Card
      id="sessions"
      title="Sessions"
      description="Where you are signed in. One that you end stops within a second; API keys go on working."
      actions={
        rows.length > 1 ? (
          <Button size="sm" loading={others.isPending} onClick={() => void endOthers()}>
            End all others
          </Button>
        ) : undefined
      }
      flush
    >
      {sessions.data !== undefined ? (
        <ul className="divide-y">
          {rows.map((session) => (
            <SessionRow key={session.id} session={session} onEnded={reload} />
          ))}
        </ul>
      ) : sessions.error === null ? (
        <LoadingRows what="your sessions" rows={2} />
      ) : (
        <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />
      )}
      {others.isError ? <ErrorState compact error={others.error} /> : null}
    </Card>
  );
};

interface SessionRowProps {
  readonly session: Session;
  readonly onEnded: () => Promise<void>;
}

const SessionRow = ({ session, onEnded }: SessionRowProps): ReactNode => {
  const signOut = useSignOut();
  const revoke = useApiMutation(revokeSession);
  const end = async (): Promise<void> => {
    const ended = await revoke.mutateAsync({ params: { id: session.id } }).catch(() => null);
    if (ended !== null) await onEnded();
  };
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
          onClick={() => void end()}
        >
          End
        </Button>
      )}
      {revoke.isError ? <ErrorState compact error={revoke.error} /> : null}
    </li>
  );
};
