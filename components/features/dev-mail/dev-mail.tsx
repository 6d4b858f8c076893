"use client";

import { Mail } from "lucide-react";
import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { CopyButton } from "@/components/ui/copy-button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { useHideableText } from "@/components/ui/hideable-text";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { useDevMail, type CaughtMail } from "./use-dev-mail";

/** The mail that the service sent in development, where mail never leaves the machine. */
export const DevMailPage = (): ReactNode => {
  const { data, error, isPending, refetch } = useDevMail();
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
      {isPending ? (
        <Card flush>
          <LoadingRows what="mail" />
        </Card>
      ) : data === undefined ? (
        <Card flush>
          <ErrorState error={error} onRetry={() => void refetch()} />
        </Card>
      ) : data.data.length === 0 ? (
        <Card flush>
          <EmptyState icon={Mail} title="No mail yet">
            Codes that verify an e-mail address or approve a payment arrive here.
          </EmptyState>
        </Card>
      ) : (
        <ul className="flex flex-col gap-3" aria-label="Mail">
          {data.data.map((mail) => (
            <li key={mail.id}>
              <MailView mail={mail} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

/** The code is no amount, and stays in the text. */
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
