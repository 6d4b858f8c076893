"use client";

import { Mail } from "lucide-react";
import type { ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { Alert } from "@/components/ui/alert";
import { CopyButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { PageHeader } from "@/components/ui/page-header";
import { EmptyState, QueryPanel } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { readInbox } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

/** The mail of the service in development, where no mail is sent to the outside. */
export const DevMailPage = (): ReactNode => {
  const query = useQuery({
    ...apiQuery(readInbox, { query: { limit: SHOWN } }),
    refetchInterval: REFRESH_MS,
  });
  const { data, error } = query;
  return (
    <>
      <PageHeader
        title="Development mail"
        description="Mail that the service sent. Newest first; new mail appears automatically."
      />
      {data !== undefined && error !== null ? (
        <Alert tone="warning" className="mb-4">
          New mail cannot be read at the moment; this is what was there.
        </Alert>
      ) : null}
      <QueryPanel
        query={query}
        what="mail"
        empty={
          <EmptyState icon={Mail} title="No mail yet">
            Codes that verify an e-mail address or approve a payment arrive here.
          </EmptyState>
        }
      >
        {(data) => (
          <ul className="flex flex-col gap-3" aria-label="Mail">
            {data.data.map((mail) => (
              <li key={mail.id}>
                <MailView mail={mail} />
              </li>
            ))}
          </ul>
        )}
      </QueryPanel>
    </>
  );
};

/** Hides the amounts in a mail. The code stays visible, because its digits are not an amount. */
const useMailText = ({ text, code }: CaughtMail): string => {
  const hideable = useHideableText();
  return code === undefined ? hideable(text) : text.split(code).map(hideable).join(code);
};

const MailView = ({ mail }: { readonly mail: CaughtMail }): ReactNode => {
  const hideable = useHideableText();
  const text = useMailText(mail);
  return (
    <Card
      title={hideable(mail.subject)}
      description={
        <>
          To {mail.to} · <Time value={mail.createdAt} />
        </>
      }
      actions={
        mail.code === undefined ? undefined : (
          <>
            <span className="sr-only">Code</span>
            <code className="num rounded-tag bg-accent-tint px-2 font-mono text-xl font-medium text-accent">
              {mail.code}
            </code>
            <CopyButton value={mail.code} label="Copy code" />
          </>
        )
      }
    >
      <p className="break-words whitespace-pre-wrap">{text}</p>
    </Card>
  );
};

type CaughtMail = ResponseOf<typeof readInbox>["data"][number];

const SHOWN = 50;
const REFRESH_MS = 2_000;
