"use client";

import Link from "next/link";
import { type ReactNode, useEffect, useState } from "react";
import { useCodeFormOf } from "@/components/features/money-flow/code-form";
import { readKeptCode } from "@/components/features/money-flow/mail-code";
import type { MoneyProof, SentCode } from "@/components/features/money-flow/types";
import { useMe } from "@/components/features/profile/use-me";
import { useApiMutation } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { LoadingRows } from "@/components/ui/states";
import { requestOtp } from "@/lib/api-client/calls.gen";
import type { BodyInput } from "@/lib/contracts/contract";
import {
  AppCodeApproval,
  CodeApproval,
  PasskeyApproval,
  RecoveryApproval,
  WalletApproval,
} from "./factor-approvals";
import { meansOf, type MeansKind, preferredMeans } from "./preferred-means";
import { useFactors } from "./use-factors";

/** How the page requests a proof for one subject. */
export interface ProofRequest {
  /**
   * Key in the tab's storage, equal for equal subjects. A code that was mailed before a reload can
   * then still be typed.
   */
  readonly keptAs: string;
  /** Requests a mailed code, or the challenge for a passkey. */
  readonly ask: (channel: "email" | "passkey") => Promise<SentCode>;
  readonly sending: boolean;
  readonly sendError: unknown;
}

interface ProofProps {
  /** Label of the button that approves, such as `Pay 20.00 USDC`. */
  readonly act: string;
  /** Whether the service accepts a mailed code for this subject. Default: true. */
  readonly takesCode?: boolean;
  readonly busy: boolean;
  /**
   * A sentence that says where the money is, or what did not change. It is shown when the code
   * could not be mailed or the challenge could not be requested.
   */
  readonly money: string;
  /** Resolves with false when the proof was refused; the field is then cleared. */
  readonly onApprove: (proof: MoneyProof) => Promise<boolean>;
  /** Accepts the signature of the sign-in wallet over the message. */
  readonly wallet?: {
    /** Undefined while the message loads. */
    readonly message: string | undefined;
    /** Requests the signature without a click when there is no other way. */
    readonly signsAtOnce: boolean;
    /** Called when the person chooses the wallet. Loads messages that are requested only then. */
    readonly onChosen?: () => void;
    readonly onApprove: (means: { readonly signature: string }) => Promise<boolean>;
  };
  /** Accepts one of the person's recovery codes in place of the app's code. */
  readonly onRecovery?: (means: { readonly recoveryCode: string }) => Promise<boolean>;
}

interface ProofPartProps extends ProofProps {
  /** The record that the proof approves. */
  readonly subject: BodyInput<typeof requestOtp>;
}

/** The proof for a record. `POST /swap/request-otp` mails its code. */
export const ProofPart = ({ subject, ...props }: ProofPartProps): ReactNode => {
  const asking = useApiMutation(requestOtp);
  return (
    <RequestedProof
      {...props}
      request={{
        keptAs: Object.values(subject).join(" "),
        ask: (channel) => asking.mutateAsync({ body: { ...subject, channel } }),
        sending: asking.isPending,
        sendError: asking.error,
      }}
    />
  );
};

interface RequestedProofProps extends ProofProps {
  readonly request: ProofRequest;
}

/**
 * The only component by which a person approves something. It shows the way that `preferredMeans`
 * returns, and links to the other ways. When this way is a mailed code, the code is sent when the
 * component opens.
 */
export const RequestedProof = (props: RequestedProofProps): ReactNode => {
  const { isKnown, ...factors } = useFactors();
  const me = useMe();
  // Null until the browser has read the tab's storage, which does not exist on the server.
  const [isMailed, setIsMailed] = useState<boolean | null>(null);
  const { keptAs } = props.request;
  useEffect(() => setIsMailed(readKeptCode(keptAs) !== null), [keptAs]);
  if (!isKnown || me.isPending || isMailed === null)
    return <LoadingRows rows={2} what="the ways to approve" />;
  const options = meansOf(
    { ...factors, hasAddress: me.data?.emailVerified !== false },
    {
      code: props.takesCode !== false,
      wallet: props.wallet !== undefined,
      recovery: props.onRecovery !== undefined,
    },
  );
  return <ChosenProof key={keptAs} {...props} options={options} isMailed={isMailed} />;
};

interface ChosenProofProps extends RequestedProofProps {
  readonly options: readonly MeansKind[];
  readonly isMailed: boolean;
}

const ChosenProof = ({ options, isMailed, ...props }: ChosenProofProps): ReactNode => {
  const [chosen, setChosen] = useState<MeansKind | null>(null);
  const means = chosen ?? preferredMeans({ options, isMailed });
  if (means === null) return <NoMeans money={props.money} />;
  const others = options.filter((option) => option !== means);
  const choose = (option: MeansKind): void => {
    setChosen(option);
    if (option === "wallet") props.wallet?.onChosen?.();
  };
  return (
    <div className="flex flex-col gap-3">
      <OneProof {...props} means={means} isOnly={others.length === 0} />
      {others.length === 0 ? null : (
        <div role="group" aria-label="Other ways to approve" className="flex flex-wrap gap-x-4">
          {others.map((option) => (
            <Button
              key={option}
              variant="link"
              disabled={props.busy}
              onClick={() => choose(option)}
            >
              {OTHER_WORDS[option]}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
};

const OTHER_WORDS = {
  passkey: "Use a passkey",
  app: "Use authenticator",
  recovery: "Use a recovery code",
  code: "Use a code instead",
  wallet: "Sign with wallet",
} as const satisfies Record<MeansKind, string>;

const NoMeans = ({ money }: Pick<ProofPartProps, "money">): ReactNode => (
  <Alert tone="warning" title="You have no verified e-mail address yet">
    The code that approves this goes there. {money}{" "}
    <Link href="/settings#email" className="link">
      Verify an e-mail address in the settings
    </Link>
    , or add a passkey there.
  </Alert>
);

interface OneProofProps extends RequestedProofProps {
  readonly means: MeansKind;
  readonly isOnly: boolean;
}

const OneProof = ({ means, isOnly, ...props }: OneProofProps): ReactNode => {
  const { act, request, busy, money, onApprove, wallet, onRecovery } = props;
  switch (means) {
    case "passkey":
      return (
        <PasskeyApproval
          ask={() => request.ask("passkey")}
          busy={busy}
          onApprove={onApprove}
          label={`${act} with passkey`}
          money={money}
        />
      );
    case "app":
      return <AppCodeApproval busy={busy} onApprove={onApprove} label={act} />;
    case "code":
      return <MailedProof {...props} />;
    case "recovery":
      return onRecovery === undefined ? null : (
        <RecoveryApproval busy={busy} onApprove={onRecovery} label={act} />
      );
    case "wallet":
      return <WalletProof act={act} wallet={wallet} busy={busy} isOnly={isOnly} />;
  }
};

const WalletProof = ({
  act,
  wallet,
  busy,
  isOnly,
}: Pick<OneProofProps, "act" | "wallet" | "busy" | "isOnly">): ReactNode => {
  if (wallet === undefined) return null;
  const { message, signsAtOnce, onApprove } = wallet;
  return message === undefined ? (
    <LoadingRows rows={1} what="the text to sign" />
  ) : (
    <WalletApproval
      message={message}
      busy={busy}
      onApprove={onApprove}
      label={`Sign and ${act.charAt(0).toLowerCase()}${act.slice(1)}`}
      signsAtOnce={isOnly && signsAtOnce}
    />
  );
};

const MailedProof = ({
  act,
  request,
  busy,
  money,
  onApprove,
}: RequestedProofProps): ReactNode => {
  const { keptAs, ask, sending, sendError } = request;
  const codes = useCodeFormOf({ keptAs, ask: () => ask("email"), sending, sendError });
  return (
    <CodeApproval codes={codes} busy={busy} onApprove={onApprove} label={act} money={money} />
  );
};
