"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import dynamic from "next/dynamic";
import { type ReactNode, useState } from "react";
import { type Control, useForm } from "react-hook-form";
import { z } from "zod";
import { passkeyProblem, signByPasskey } from "@/components/features/factors/browser-passkey";
import {
  CodeField,
  codeForm,
  type CodeRequest,
  CodeSendError,
} from "@/components/features/money-flow/code-form";
import { useMe } from "@/components/features/profile/use-me";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ErrorState, LoadingRows, QueryContent } from "@/components/ui/states";
import { ControlField, Form, TextField } from "@/components/ui/form";
import { OtpInput } from "@/components/ui/otp-input";
import { ApiError } from "@/lib/api-client/client";
import { RECOVERY_HOLD_HOURS } from "@/lib/contracts/approvable-changes";
import type { PasskeyAssertion, PasskeyRequest } from "@/lib/contracts/passkey-records";

type CodeValues = z.infer<typeof codeForm>;

const recoveryForm = z.object({ code: z.string().trim().min(1, "Type a recovery code.") });

interface AppCodeApprovalProps {
  readonly busy: boolean;
  readonly onApprove: (means: { readonly totp: string }) => Promise<boolean>;
  readonly label?: string;
  /** A button beside the first one, for another way to approve. */
  readonly aside?: ReactNode;
}

export const AppCodeApproval = ({
  busy,
  onApprove,
  label = "Approve",
  aside = null,
}: AppCodeApprovalProps): ReactNode => (
  <TypedApproval
    busy={busy}
    label={label}
    aside={aside}
    schema={codeForm}
    onApprove={(totp) => onApprove({ totp })}
  >
    {(control) => (
      <ControlField control={control} name="code" label="Code of the authenticator app">
        {({ value, onValueChange }) => (
          <OtpInput value={value} onChange={onValueChange} disabled={busy} autoFocus />
        )}
      </ControlField>
    )}
  </TypedApproval>
);

interface AppApprovalProps {
  readonly busy: boolean;
  readonly onApprove: (
    means: { readonly totp: string } | { readonly recoveryCode: string },
  ) => Promise<boolean>;
}

export const AppOrRecoveryApproval = ({ busy, onApprove }: AppApprovalProps): ReactNode => {
  const [byRecovery, setByRecovery] = useState(false);
  const swap = (
    <Button variant="ghost" onClick={() => setByRecovery(!byRecovery)}>
      {byRecovery ? "Use the app" : "Use a recovery code"}
    </Button>
  );
  if (!byRecovery) return <AppCodeApproval busy={busy} onApprove={onApprove} aside={swap} />;
  return (
    <TypedApproval
      busy={busy}
      label="Approve"
      aside={swap}
      schema={recoveryForm}
      onApprove={(recoveryCode) => onApprove({ recoveryCode })}
    >
      {(control) => (
        <TextField
          control={control}
          name="code"
          label="Recovery code"
          hint={`Each code is good once. A factor that you add with it approves nothing for ${String(RECOVERY_HOLD_HOURS)} hours.`}
          input={{ autoFocus: true }}
        />
      )}
    </TypedApproval>
  );
};

interface TypedApprovalProps {
  readonly busy: boolean;
  readonly label: string;
  readonly aside: ReactNode;
  readonly schema: z.ZodType<CodeValues, CodeValues>;
  /** Resolves with false when the code was refused; the field is then cleared. */
  readonly onApprove: (code: string) => Promise<boolean>;
  readonly children: (control: Control<CodeValues>) => ReactNode;
}

const TypedApproval = ({
  busy,
  label,
  aside,
  schema,
  onApprove,
  children,
}: TypedApprovalProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(schema), defaultValues: { code: "" } });
  const approve = async ({ code }: CodeValues): Promise<void> => {
    if (!(await onApprove(code))) form.reset({ code: "" });
  };
  return (
    <Form form={form} onSubmit={approve} className="flex flex-col gap-4">
      {children(form.control)}
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          variant="primary"
          loading={busy}
          disabled={!schema.safeParse(form.watch()).success}
        >
          {label}
        </Button>
        {aside}
      </div>
    </Form>
  );
};

interface CodeApprovalProps {
  readonly codes: CodeRequest;
  readonly busy: boolean;
  /** Resolves with false when the code was refused; the field is then cleared. */
  readonly onApprove: (means: { readonly otp: string }) => Promise<boolean>;
  readonly label?: string;
  /** Shown when the code could not be sent: where the money is, or what did not change. */
  readonly money: string;
  readonly missing?: ReactNode;
}

export const CodeApproval = ({
  codes,
  busy,
  onApprove,
  label = "Approve",
  money,
  missing,
}: CodeApprovalProps): ReactNode => {
  const approve = async ({ code }: CodeValues): Promise<void> => {
    if (!(await onApprove({ otp: code }))) codes.clear();
  };
  return (
    <Form form={codes.form} onSubmit={approve} className="flex flex-col gap-4">
      <CodeField codes={codes} disabled={busy} />
      {codes.sent === null ? null : (
        <div>
          <Button type="submit" variant="primary" loading={busy} disabled={!codes.isWhole}>
            {label}
          </Button>
        </div>
      )}
      <CodeSendError error={codes.sendError} money={money} missing={missing} />
    </Form>
  );
};

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
  readonly label?: string;
  /** Requests the signature without a click. */
  readonly signsAtOnce?: boolean;
}

/**
 * Requests the signature of the person's sign-in wallet, because the service refuses that of any
 * other wallet.
 */
export const WalletApproval = ({
  message,
  busy,
  onApprove,
  label = "Sign and approve",
  signsAtOnce = false,
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
  readonly label?: string;
  /** Shown after an error: where the money is, or what did not change. */
  readonly money?: string;
}

/**
 * Requests a passkey's signature over a challenge that begins with the digest of the change to
 * approve.
 */
export const PasskeyApproval = ({
  ask,
  busy,
  onApprove,
  label = "Approve with a passkey",
  money = "Nothing was changed.",
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
      <div>
        <Button variant="primary" loading={signing || busy} onClick={() => void approve()}>
          {label}
        </Button>
      </div>
      {error instanceof ApiError ? <ErrorState compact error={error} money={money} /> : null}
      {problem === null ? null : (
        <Alert tone="warning" title="It was not approved">
          {problem} {money}
        </Alert>
      )}
    </div>
  );
};
