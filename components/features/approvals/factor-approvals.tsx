"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import dynamic from "next/dynamic";
import { type ReactNode, useRef, useState } from "react";
import { useController, useForm } from "react-hook-form";
import { z } from "zod";
import { passkeyProblem, signByPasskey } from "@/components/features/factors/browser-passkey";
import { codeOf } from "@/components/features/money-flow/api-error";
import {
  codeForm,
  type CodeRequest,
  CodeSendError,
  isSentBefore,
  SentNotice,
} from "@/components/features/money-flow/code-form";
import { useMe } from "@/components/features/profile/use-me";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ErrorState, LoadingRows, QueryContent } from "@/components/ui/states";
import { Field } from "@/components/ui/field";
import { Form, TextField } from "@/components/ui/form";
import { OtpInput } from "@/components/ui/otp-input";
import { ApiError } from "@/lib/api-client/client";
import { RECOVERY_HOLD_HOURS } from "@/lib/contracts/approvable-changes";
import type { PasskeyAssertion, PasskeyRequest } from "@/lib/contracts/passkey-records";

/** Classes of a button whose label may need two lines. */
export const ACT_LOOKS = "h-auto min-h-9 w-full py-1.5 whitespace-normal";

const recoveryForm = z.object({ code: z.string().trim().min(1, "Type a recovery code.") });

interface DigitsApprovalProps {
  readonly fieldLabel: string;
  /** True where a sentence above the field says what to type. */
  readonly labelHidden?: boolean;
  /** Label of the button, for a second try after an error. */
  readonly label: string;
  readonly busy: boolean;
  /** Resolves with false when the code was refused; the field is then cleared. */
  readonly onApprove: (code: string) => Promise<boolean>;
}

/**
 * A field for six digits. The last digit submits the code. While a code is being checked, it is
 * not submitted again.
 */
const DigitsApproval = ({
  fieldLabel,
  labelHidden,
  label,
  busy,
  onApprove,
}: DigitsApprovalProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(codeForm), defaultValues: { code: "" } });
  const { field } = useController({ control: form.control, name: "code" });
  // The number of refused codes is the field's key. Each refused code mounts the field again, so
  // that it has the focus for the next try.
  const [refusals, setRefusals] = useState(0);
  const isRunning = useRef(false);
  const approve = async (code: string): Promise<void> => {
    if (isRunning.current || busy) return;
    isRunning.current = true;
    try {
      if (await onApprove(code)) return;
      form.reset({ code: "" });
      setRefusals((count) => count + 1);
    } finally {
      isRunning.current = false;
    }
  };
  return (
    <Form form={form} onSubmit={({ code }) => approve(code)} className="flex flex-col gap-3">
      <Field label={fieldLabel} labelHidden={labelHidden}>
        <OtpInput
          key={refusals}
          value={field.value}
          onChange={field.onChange}
          disabled={busy}
          autoFocus
        />
      </Field>
      <Button
        type="submit"
        variant="primary"
        className={ACT_LOOKS}
        loading={busy}
        disabled={!codeForm.safeParse({ code: field.value }).success}
      >
        {label}
      </Button>
    </Form>
  );
};

interface AppCodeApprovalProps extends Pick<DigitsApprovalProps, "busy"> {
  readonly onApprove: (means: { readonly totp: string }) => Promise<boolean>;
  readonly label: string;
}

export const AppCodeApproval = ({
  busy,
  onApprove,
  label,
}: AppCodeApprovalProps): ReactNode => (
  <DigitsApproval
    fieldLabel="Code of the authenticator app"
    label={label}
    busy={busy}
    onApprove={(totp) => onApprove({ totp })}
  />
);

interface RecoveryApprovalProps {
  readonly busy: boolean;
  readonly onApprove: (means: { readonly recoveryCode: string }) => Promise<boolean>;
  readonly label: string;
}

export const RecoveryApproval = ({
  busy,
  onApprove,
  label,
}: RecoveryApprovalProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(recoveryForm), defaultValues: { code: "" } });
  return (
    <Form
      form={form}
      className="flex flex-col gap-3"
      onSubmit={async ({ code }) => {
        if (!(await onApprove({ recoveryCode: code }))) form.reset({ code: "" });
      }}
    >
      <TextField
        control={form.control}
        name="code"
        label="Recovery code"
        hint={`Each code is good once. A factor that you add with it approves nothing for ${String(RECOVERY_HOLD_HOURS)} hours.`}
        input={{ autoFocus: true }}
      />
      <Button
        type="submit"
        variant="primary"
        className={ACT_LOOKS}
        loading={busy}
        disabled={form.watch("code").trim() === ""}
      >
        {label}
      </Button>
    </Form>
  );
};

interface CodeApprovalProps {
  readonly codes: CodeRequest;
  readonly busy: boolean;
  /** Resolves with false when the code was refused; the field is then cleared. */
  readonly onApprove: (means: { readonly otp: string }) => Promise<boolean>;
  readonly label: string;
  /** Shown when the code could not be sent: where the money is, or what did not change. */
  readonly money: string;
}

/** The field for a mailed code. It is shown even before the code is sent. */
export const CodeApproval = ({
  codes,
  busy,
  onApprove,
  label,
  money,
}: CodeApprovalProps): ReactNode => (
  <div className="flex flex-col gap-3">
    {codeOf(codes.sendError) === "otp_channel_missing" ? null : (
      <>
        <SentNotice codes={codes} />
        <DigitsApproval
          key={codes.clears}
          fieldLabel="One-time code"
          labelHidden
          label={label}
          busy={busy}
          onApprove={(otp) => onApprove({ otp })}
        />
      </>
    )}
    {isSentBefore(codes) ? null : <CodeSendError error={codes.sendError} money={money} />}
  </div>
);

const SignWithWallet = dynamic(
  () => import("./sign-with-wallet").then((module) => module.SignWithWallet),
  {
    ssr: false,
    loading: () => <LoadingRows rows={1} what="your wallet" />,
  },
);

interface WalletApprovalProps {
  readonly message: string;
  readonly busy: boolean;
  readonly onApprove: (means: { readonly signature: string }) => Promise<boolean>;
  readonly label: string;
  /** Requests the signature without a click. */
  readonly signsAtOnce: boolean;
}

/**
 * Requests a signature from the wallet with which the person signs in. The service refuses
 * signatures of other wallets.
 */
export const WalletApproval = ({
  message,
  busy,
  onApprove,
  label,
  signsAtOnce,
}: WalletApprovalProps): ReactNode => {
  const me = useMe();
  return (
    <QueryContent query={me} what="your wallet" rows={1} compact money="Nothing was changed.">
      {({ address }) => (
        <SignWithWallet
          address={address}
          message={message}
          busy={busy}
          onApprove={onApprove}
          label={label}
          signsAtOnce={signsAtOnce}
        />
      )}
    </QueryContent>
  );
};

interface PasskeyApprovalProps {
  /** Requests a challenge that begins with the digest of the change to approve. */
  readonly ask: () => Promise<{ readonly passkey?: PasskeyRequest | undefined }>;
  readonly busy: boolean;
  readonly onApprove: (means: { readonly passkey: PasskeyAssertion }) => Promise<unknown>;
  readonly label: string;
  /** Shown after an error: where the money is, or what did not change. */
  readonly money: string;
}

/**
 * Requests a passkey's signature over a challenge that begins with the digest of the change to
 * approve.
 */
export const PasskeyApproval = ({
  ask,
  busy,
  onApprove,
  label,
  money,
}: PasskeyApprovalProps): ReactNode => {
  const [error, setError] = useState<unknown>(null);
  const [signing, setSigning] = useState(false);
  const approve = async (): Promise<void> => {
    setError(null);
    setSigning(true);
    try {
      const { passkey } = await ask();
      if (passkey !== undefined) await onApprove({ passkey: await signByPasskey(passkey) });
    } catch (failure) {
      setError(failure);
    } finally {
      setSigning(false);
    }
  };
  const problem = passkeyProblem(error);
  return (
    <div className="flex flex-col gap-3">
      <Button
        variant="primary"
        className={ACT_LOOKS}
        loading={signing || busy}
        onClick={() => void approve()}
      >
        {label}
      </Button>
      {error instanceof ApiError ? <ErrorState compact error={error} money={money} /> : null}
      {problem === null ? null : (
        <Alert tone="warning" title="It was not approved">
          {problem} {money}
        </Alert>
      )}
    </div>
  );
};
