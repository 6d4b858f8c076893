"use client";

import { useMutation, type UseMutationResult, useQuery } from "@tanstack/react-query";
import { MailQuestion } from "lucide-react";
import Link from "next/link";
import { useSyncExternalStore, type ReactNode } from "react";
import { PublicPage } from "@/components/layout/public-page";
import { Address } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Card, Fact, Facts } from "@/components/ui/card";
import { ActionError, EmptyState, LoadingRows, QueryContent } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { confirmNotMe, lookUpNotMe } from "@/lib/api-client/calls.gen";
import { createApiClient } from "@/lib/api-client/client";
import type { ResponseOf } from "@/lib/contracts/contract";
import { countOf, KIND_LOOKS, ThingsList } from "./made-things";

type View = ResponseOf<typeof lookUpNotMe>;

/** Sends no access token, because the link also works for people who are not signed in. */
const api = createApiClient({ baseUrl: "/api" });

const onHash = (changed: () => void): (() => void) => {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
};

/**
 * The page of the mailed link "This was not me". Opening it changes nothing, because mail scanners
 * open links too.
 */
export const NotMe = (): ReactNode => {
  const token = useSyncExternalStore(
    onHash,
    () => window.location.hash.slice(1),
    () => null,
  );
  return (
    <PublicPage>
      <main className="mx-auto flex w-full max-w-2xl flex-1 flex-col gap-4 px-4 pt-[4vh] pb-12">
        <div>
          <h1 className="text-3xl font-semibold">Was this not you?</h1>
          <p className="text-fg-2">
            Something was made in your project without a code or a signature.
          </p>
        </div>
        {token === null ? <LoadingRows what="the link" rows={3} /> : null}
        {token === "" ? (
          <Card>
            <EmptyState icon={MailQuestion} title="No link was opened">
              Open the whole link of the mail. It is good for 30 days.
            </EmptyState>
          </Card>
        ) : null}
        {token === null || token === "" ? null : <OneThing key={token} token={token} />}
      </main>
    </PublicPage>
  );
};

const OneThing = ({ token }: { readonly token: string }): ReactNode => {
  const thing = useQuery({
    queryKey: ["not-me", token],
    queryFn: () => api.call(lookUpNotMe, { body: { token } }),
    retry: false,
  });
  const confirm = useMutation({
    mutationFn: () => api.call(confirmNotMe, { body: { token } }),
    onSuccess: () => thing.refetch(),
  });
  return (
    <QueryContent query={thing} what="the link" rows={3}>
      {(data) => <KnownThing data={data} confirm={confirm} />}
    </QueryContent>
  );
};

interface KnownThingProps {
  readonly data: View;
  readonly confirm: UseMutationResult<ResponseOf<typeof confirmNotMe>, Error, void>;
}

const KnownThing = ({ data, confirm }: KnownThingProps): ReactNode => {
  const isOver = data.sessionEnded && data.others.length === 0 && data.state !== "works";
  const suspended = confirm.data?.suspended ?? [];
  return (
    <>
      <Card title={KIND_LOOKS[data.kind].word} flush>
        <ThingFacts view={data} />
        {data.others.length === 0 ? null : (
          <div className="border-t px-4 py-3">
            <p className="text-fg-2">
              The same session also made this without a code or a signature:
            </p>
            <ThingsList label="Also made" things={data.others} />
          </div>
        )}
        <div className="flex flex-col gap-3 border-t p-4">
          {isOver ? (
            <Alert tone="success" title={doneTitle(suspended.length)}>
              {SENTENCES[data.state]} The session has ended. A person of the project restores it
              with a code, a passkey or a signature.
            </Alert>
          ) : (
            <>
              <p>
                {data.state === "proven" ? `${SENTENCES.proven} ` : ""}
                The button suspends everything above and ends the session that made it. Nothing
                is deleted: a person of the project can restore it with a code, a passkey or a
                signature. If it was you, close this page.
              </p>
              <ActionError error={confirm.error} money="Nothing was suspended." />
              <div>
                <Button
                  variant="danger"
                  loading={confirm.isPending}
                  onClick={() => confirm.mutate()}
                >
                  This was not me: suspend it
                </Button>
              </div>
            </>
          )}
        </div>
      </Card>
      <p className="text-sm text-fg-2">
        Then{" "}
        <Link href="/settings/security#sessions" className="link">
          look at your sessions
        </Link>{" "}
        and end those that you do not know.
      </p>
    </>
  );
};

const doneTitle = (suspended: number): string =>
  suspended === 0
    ? "None of this works any more"
    : `${countOf(suspended, ["thing was", "things were"])} suspended`;

const SENTENCES: Readonly<Record<View["state"], string>> = {
  works: "",
  suspended: "It does nothing now.",
  proven: "Somebody approved it since with a code, a passkey or a signature, so it stays.",
  ended: "It was revoked, deleted or cancelled.",
};

const ThingFacts = ({ view }: { readonly view: View }): ReactNode => (
  <Facts className="px-4">
    <Fact label="Name">
      <span className="wrap-anywhere">{view.name ?? "–"}</span>
    </Fact>
    {view.madeAt === null ? null : (
      <Fact label="Made">
        <Time value={view.madeAt} absolute />
      </Fact>
    )}
    <Fact label="Made by">
      <Address value={view.madeBy} />
    </Fact>
    <Fact label="Session">
      {view.device}, from {view.address ?? "an unknown address"}
    </Fact>
    <Fact label="Signed in">
      <Time value={view.signedInAt} absolute />
    </Fact>
  </Facts>
);
