"use client";

import { useQuery } from "@tanstack/react-query";
import { MailQuestion } from "lucide-react";
import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import { EmailCard } from "@/components/features/profile/email-card";
import { type Me, useMe } from "@/components/features/profile/use-me";
import { chooseProject } from "@/components/features/projects/use-project";
import { useApi, useApiMutation } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Card, Fact, Facts } from "@/components/ui/card";
import {
  ActionError,
  EmptyState,
  joinQueries,
  QueryContent,
  Skeleton,
} from "@/components/ui/states";
import { PageHeader } from "@/components/ui/page-header";
import { Time } from "@/components/ui/time";
import { acceptInvitation, lookUpInvitation } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { isSameMailbox } from "@/lib/core/mailbox";
import {
  forgetInvitationToken,
  keepInvitationToken,
  readInvitationToken,
} from "./invitation-token";
import { ROLE_CHOICES, roleName } from "./use-members";

type View = ResponseOf<typeof lookUpInvitation>;

const unsubscribe = (): void => undefined;
const subscribe = (): (() => void) => unsubscribe;

export const AcceptInvitation = (): ReactNode => {
  // The token is undefined on the server, which cannot read the tab's storage.
  const token = useSyncExternalStore(subscribe, readInvitationToken, () => undefined);
  return (
    <>
      <PageHeader title="Invitation" />
      <div className="flex max-w-2xl flex-col gap-4">
        {token === undefined ? (
          <Skeleton className="h-40" />
        ) : token === null || token === "" ? (
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
  const invitation = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => api.call(lookUpInvitation, { body: { token } }),
    retry: false,
  });
  const known = invitation.data && me.data && { view: invitation.data, me: me.data };
  return (
    <QueryContent query={joinQueries([invitation, me], known)} what="the invitation" rows={3}>
      {(parts) => <Ready token={token} {...parts} />}
    </QueryContent>
  );
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
  const isRightAddress = me.emailVerified && isSameMailbox(me.email, view.email);
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
            <span className="text-fg-2">
              {ROLE_CHOICES.find(({ value }) => value === view.role)?.description}
            </span>
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
          <ActionError error={accept.error} money="You have not joined." />
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
          <EmailCard me={me} suggested={view.email} />
        </>
      )}
    </>
  );
};

/**
 * The page of the mailed link. A redirect to the sign-in page would lose the token after the #, so
 * this page first stores it in the tab.
 */
export const OpenInvitation = (): ReactNode => {
  useEffect(() => {
    keepInvitationToken(window.location.hash.slice(1));
    window.location.replace("/accept-invitation");
  }, []);
  return <p className="p-6 text-fg-2">Opening the invitation …</p>;
};
