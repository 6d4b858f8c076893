"use client";

import Link from "next/link";
import { useState, type ReactNode } from "react";
import { DevCodeHint } from "@/components/features/inbox/dev-code-hint";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Countdown } from "@/components/ui/countdown";
import { ErrorState } from "@/components/ui/error-state";
import { Field } from "@/components/ui/field";
import { OtpInput } from "@/components/ui/otp-input";
import { codeOf } from "./field-errors";
import type { SentCode } from "./types";
import { mayContinue, type SwapFlow } from "./use-swap-flow";

/** The button that goes on stands in the footer of the dialog; Enter in the field does the same. */
export const CODE_FORM_ID = "swap-code";

const SETTINGS_LINK = (
  <Link href="/settings#email" className="link">
    Verify an e-mail address in the settings
  </Link>
);

/** Sends the code that approves exactly this quote, and takes it. */
export const CodeStep = ({ flow: swap }: { readonly flow: SwapFlow }): ReactNode => {
  const { flow } = swap;
  if (flow === null) return null;
  const { quote, sent } = flow;
  return (
    <form
      id={CODE_FORM_ID}
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (mayContinue(flow)) void swap.prepare(flow.code);
      }}
    >
      <p className="text-fg-2">
        The code approves exactly this: {quote.from.length === 1 ? "one source" : `${quote.from.length} sources`}, at
        least <Amount value={quote.to.minAmount} unit={quote.to.token.symbol} className="font-medium text-fg" plain />{" "}
        to <code className="font-mono text-sm break-all text-fg">{quote.to.address}</code>. It is good for nothing else.
      </p>
      {flow.moved !== null ? null : flow.approved ? (
        <Alert tone="success" title="The code was right.">
          This quote is approved; going on needs no further code.
        </Alert>
      ) : sent === null ? (
        <div>
          <Button variant="primary" loading={swap.sending} onClick={() => void swap.sendCode()}>
            Send code
          </Button>
        </div>
      ) : (
        <CodeEntry swap={swap} sent={sent} code={flow.code} />
      )}
      {swap.sendError == null ? null : (
        <ErrorState
          compact
          error={swap.sendError}
          money="Nothing was sent."
          {...(codeOf(swap.sendError) === "otp_channel_missing" ? { action: SETTINGS_LINK } : {})}
        />
      )}
    </form>
  );
};

interface CodeEntryProps {
  readonly swap: SwapFlow;
  readonly sent: SentCode;
  readonly code: string;
}

const CodeEntry = ({ swap, sent, code }: CodeEntryProps): ReactNode => (
  <>
    <p>
      A code was sent {sent.channel === "email" ? "by e-mail " : ""}to <strong>{sent.destination}</strong>.{" "}
      <Countdown until={sent.expiresAt} label="It expires in" expiredText="It has expired." className="text-fg-2" />
    </p>
    <DevCodeHint />
    <Field label="One-time code">
      <OtpInput value={code} onChange={swap.setCode} disabled={swap.preparing} autoFocus />
    </Field>
    <ResendButton key={sent.otpId} swap={swap} sent={sent} />
  </>
);

const ResendButton = ({ swap, sent }: Omit<CodeEntryProps, "code">): ReactNode => {
  const [ready, setReady] = useState(false);
  return (
    <div>
      <Button size="sm" disabled={!ready} loading={swap.sending} onClick={() => void swap.sendCode()}>
        {ready ? (
          "Send a new code"
        ) : (
          <Countdown
            until={sent.resendAfter}
            label="New code in"
            expiredText="Send a new code"
            onExpire={() => setReady(true)}
          />
        )}
      </Button>
    </div>
  );
};
