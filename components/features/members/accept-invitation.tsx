"use client";

import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore, type ReactNode } from "react";
import { EmailCard } from "@/components/features/profile/email-card";
import { useMe, type Me } from "@/components/features/profile/use-me";
import { chooseProject } from "@/components/features/projects/chosen-project";
import { useApi, useApiMutation } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Card, Fact, Facts } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import type { ResponseOf } from "@/lib/contracts/contract";
import { acceptInvitation, lookUpInvitation } from "@/lib/api-client/calls.gen";
import { MailQuestion } from "lucide-react";
import { forgetInvitationToken, readInvitationToken } from "./invitation-token";
import { ROLE_CHOICES, roleName } from "./roles";

type View = ResponseOf<typeof lookUpInvitation>;

const unsubscribe = (): void => undefined;
const subscribe = (): (() => void) => unsubscribe;

/** Shows what the invitation is for, has the invited address verified, and joins the project. */
export const AcceptInvitation = (): ReactNode => {
  const token = useSyncExternalStore(subscribe, readInvitationToken, () => null);
  return (
    <>
      <PageHeader title="Invitation" />
      <div className="flex max-w-2xl flex-col gap-4">
        {token === null || token === "" ? (
          <Card>
            <EmptyState icon={MailQuestion} title="No invitation was opened">
              Open the link of the mail in this browser. It is good for seven days.
            </EmptyState>
          </Card>
        ) : (
          <OneInvitation token={token} />
        )}
      </div>
    </>
  );
};

const OneInvitation = ({ token }: { readonly token: string }): ReactNode => {
  const api = useApi();
  const me = useMe();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => api.call(lookUpInvitation, { body: { token } }),
    retry: false,
  });
  if (isPending || me.isPending) return <LoadingRows what="the invitation" rows={3} />;
  if (data === undefined) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (me.data === undefined) return <ErrorState error={me.error} onRetry={() => void me.refetch()} />;
  return <Ready token={token} view={data} me={me.data} />;
};

interface ReadyProps {
  readonly token: string;
  readonly view: View;
  readonly me: Me;
}

const ENDED = {
  accepted: "This invitation was accepted already.",
  withdrawn: "This invitation was withdrawn, or a newer one replaced it.",
  expired: "This invitation has expired.",
} as const;

const Ready = ({ token, view, me }: ReadyProps): ReactNode => {
  const accept = useApiMutation(acceptInvitation);
  const isRightAddress = me.emailVerified && me.email === view.email;
  const join = async (): Promise<void> => {
    const joined = await accept.mutateAsync({ body: { token } }).catch(() => null);
    if (joined === null) return;
    forgetInvitationToken();
    chooseProject(joined.projectId);
  };
  return (
    <>
      <Card title={`Join ${view.projectName}`} flush>
        <Facts className="px-4">
          <Fact label="Role">
            {roleName(view.role)}{" "}
            <span className="text-fg-2">{ROLE_CHOICES.find(({ value }) => value === view.role)?.description}</span>
          </Fact>
          <Fact label="Mailed to">{view.email}</Fact>
          <Fact label="Good until">
            <Time value={view.expiresAt} absolute />
          </Fact>
        </Facts>
        <div className="flex flex-col gap-3 border-t p-4">
          {view.status === "open" ? null : (
            <Alert tone="warning" title={ENDED[view.status]}>
              Ask who invited you for a new one.
            </Alert>
          )}
          {accept.isError ? <ErrorState compact error={accept.error} money="You have not joined." /> : null}
          <div>
            <Button
              variant="primary"
              loading={accept.isPending}
              disabled={!isRightAddress || view.status !== "open"}
              onClick={() => void join()}
            >
              Join project
            </Button>
          </div>
        </div>
      </Card>
      {isRightAddress || view.status !== "open" ? null : (
        <>
          <Alert tone="info" title={`Verify ${view.email} to join`}>
            The invitation is for this address alone. A code shows that it is yours.
          </Alert>
          <EmailCard me={me} />
        </>
      )}
    </>
  );
};
