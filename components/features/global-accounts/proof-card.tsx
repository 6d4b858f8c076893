"use client";

import { useMutation } from "@tanstack/react-query";
import { CircleCheck, CircleX, Download, ShieldCheck } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { useReserves } from "@/components/features/reserves/use-reserves";
import { useApi } from "@/components/features/session/use-api";
import { HashValue } from "@/components/features/reserves/hash-value";
import { Alert } from "@/components/ui/alert";
import { Amount, HeldAmount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { CodeBlock } from "@/components/ui/code-block";
import { ActionError } from "@/components/ui/states";
import { saveFile } from "@/components/ui/save-file";
import { Fact, Facts, Card } from "@/components/ui/card";
import { Time } from "@/components/ui/time";
import { ApiError } from "@/lib/api-client/client";
import { getReservesProof } from "@/lib/api-client/calls.gen";
import { formatAmount } from "@/lib/core/money";
import type { Account } from "./account";
import { holds, type ReservesProof } from "./verify-proof";

interface Checked {
  readonly proof: ReservesProof;
  /**
   * Whether the proof is valid. Null when the browser cannot compute hashes, because the page was
   * not loaded over HTTPS.
   */
  readonly right: boolean | null;
}

/**
 * Maximum number of times that a request for the proof of a new account is repeated. The service
 * builds a tree every ten seconds, and the next tree contains the account.
 */
const TREES_WAITED_MAX = 6;
const isTooYoung = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  error.code === "invalid_state" &&
  error.retryAfterSeconds !== null;

const fileName = (proof: ReservesProof): string => `proof-${proof.accountId}.json`;

export const ProofCard = ({ account }: { readonly account: Account }): ReactNode => {
  const api = useApi();
  const request = useMutation({
    mutationFn: async (): Promise<Checked> => {
      const proof = await api.call(getReservesProof, { params: { id: account.id } });
      return { proof, right: window.isSecureContext ? await holds(proof) : null };
    },
    retry: (failures, error) => isTooYoung(error) && failures < TREES_WAITED_MAX,
    retryDelay: (_, error) => (isTooYoung(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0),
  });
  return (
    <Card
      title="Proof of inclusion"
      actions={
        <Button
          size="sm"
          variant={request.data === undefined ? "primary" : "secondary"}
          loading={request.isPending}
          onClick={() => request.mutate()}
        >
          {request.isPending ? null : <ShieldCheck aria-hidden />}
          {request.data === undefined ? "Create the proof" : "Create a new one"}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="max-w-prose text-fg-2">
          It shows that the balance of this account is counted in what the project says it owes.
          Give it to whoever owns the account: with it they can check the sum under{" "}
          <Link href="/reserves" className="link">
            Reserves
          </Link>{" "}
          without seeing what others have.
        </p>
        {request.isPending && request.failureCount > 0 ? (
          <Alert tone="info" title="The account is in the next sum, within half a minute">
            The last sum is older than the account. The proof is created as soon as the next sum
            is there.
          </Alert>
        ) : null}
        <ActionError error={request.error} money="The money in the account is untouched." />
        {request.data === undefined ? null : <ProofView checked={request.data} />}
      </div>
    </Card>
  );
};

const ProofView = ({ checked: { proof, right } }: { readonly checked: Checked }): ReactNode => (
  <>
    <Verdict right={right} />
    <Facts className="border-y">
      <Fact label="Balance that is counted" strong>
        <HeldAmount
          value={formatAmount(BigInt(proof.balanceBase), proof.decimals)}
          unit={proof.currency}
        />
      </Fact>
      <Fact label="All accounts together">
        <Amount
          value={formatAmount(BigInt(proof.root.sumBase), proof.decimals)}
          unit={proof.currency}
        />
      </Fact>
      <Fact label="Root">
        <HashValue value={proof.root.hash} />
      </Fact>
      <Fact label="Published under Reserves">
        <PublishedRoot proof={proof} />
      </Fact>
      <Fact label="Steps to the root">{proof.siblings.length}</Fact>
      <Fact label="As of">
        <Time value={proof.asOf} absolute />
      </Fact>
    </Facts>
    <div>
      <Button
        onClick={() =>
          saveFile({
            text: JSON.stringify(proof, null, 2),
            name: fileName(proof),
            mediaType: "application/json",
          })
        }
      >
        <Download aria-hidden /> Download proof
      </Button>
    </div>
    <div className="flex flex-col gap-2">
      <p className="text-fg-2">
        To check it without trusting this page, in a copy of the source with no access to the
        service:
      </p>
      <CodeBlock
        label="check command"
        code={`npm run reserves:verify -- ${fileName(proof)}`}
        wrap
      />
    </div>
  </>
);

const Verdict = ({ right }: Pick<Checked, "right">): ReactNode => {
  if (right === null)
    return (
      <Alert tone="info" title="Not checked here">
        This page came without HTTPS, so the browser lends it no hash function. Use the command
        below.
      </Alert>
    );
  return right ? (
    <Alert
      tone="success"
      title="This browser computed the way to the root: the account is counted"
    >
      Hash and sum of every step fit; a root that leaves the account out, or counts less, would
      not.
    </Alert>
  ) : (
    <Alert tone="danger" title="The proof does not lead to the root that it names">
      The account is not counted as it should be. Download the proof, and report it.
    </Alert>
  );
};

/** Compares the proof's root with the published root. Each payment changes the published root. */
const PublishedRoot = ({ proof }: { readonly proof: ReservesProof }): ReactNode => {
  const { data } = useReserves();
  if (data === undefined) return <span className="text-fg-3">not known</span>;
  const root = data.data.find(({ assetId }) => assetId === proof.assetId)?.root;
  return root?.hash === proof.root.hash ? (
    <Badge tone="success" icon={CircleCheck}>
      The same root
    </Badge>
  ) : (
    <Badge
      tone="warning"
      icon={CircleX}
      title="Balances have changed since; create a new proof."
    >
      The root has changed
    </Badge>
  );
};
