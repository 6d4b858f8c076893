"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { Address as EvmAddress } from "viem";
import { useConfig } from "wagmi";
import { signMessage } from "wagmi/actions";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { connectorWith } from "@/components/features/signing/wallet-access";
import { usePublicConfig } from "@/components/providers/public-config";
import { Address } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Countdown } from "@/components/ui/countdown";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { getUnifiedBalances, initWalletLink, listWallets, verifyWalletLink } from "@/lib/api-client/calls.gen";
import { linkProblem, missingAccount, type LinkProblem } from "./link-error";

interface LinkMessageProps {
  readonly address: string;
  readonly onLinked: () => void;
  /** To another account. */
  readonly onBack: () => void;
}

/** The message of the service for this account; its nonce is good for one signature. */
const useLinkMessage = (address: string) => {
  const api = useApi();
  const config = useConfig();
  const { chains } = usePublicConfig();
  return useQuery({
    queryKey: [...queryKeyOf(initWalletLink), address],
    queryFn: async ({ signal }) => {
      const connector = await connectorWith(config, address);
      const current = await connector?.getChainId();
      // Where a contract signs, it is the chain that the wallet is on.
      const chainId = chains.find((chain) => chain.id === current)?.id;
      return api.call(initWalletLink, { body: { address, ...(chainId === undefined ? {} : { chainId }) }, signal });
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
};

/** Signs and verifies; keeps why it did not work. */
const useLinking = ({ address, onLinked, renew }: LinkMessageProps & { readonly renew: () => void }) => {
  const api = useApi();
  const config = useConfig();
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<LinkProblem | null>(null);
  const [failure, setFailure] = useState<unknown>(null);

  const link = async (message: string): Promise<void> => {
    const connector = await connectorWith(config, address);
    if (connector === undefined) {
      setProblem(missingAccount(address));
      return;
    }
    const signature = await signMessage(config, { connector, account: address as EvmAddress, message });
    await api.call(verifyWalletLink, { body: { address, signature } });
    await Promise.all(
      [listWallets, getUnifiedBalances].map((contract) =>
        queryClient.invalidateQueries({ queryKey: queryKeyOf(contract) }),
      ),
    );
    onLinked();
  };
  const sign = async (message: string): Promise<void> => {
    setBusy(true);
    setProblem(null);
    setFailure(null);
    try {
      await link(message);
    } catch (error) {
      const known = linkProblem(error);
      setProblem(known);
      if (known === null) setFailure(error);
      if (known?.next === "renew") renew();
    } finally {
      setBusy(false);
    }
  };
  return { busy, problem, failure, sign };
};

/** The whole message, word for word, and the button that has it signed. */
export const LinkMessage = (props: LinkMessageProps): ReactNode => {
  const { address, onBack } = props;
  const message = useLinkMessage(address);
  const { busy, problem, failure, sign } = useLinking({ ...props, renew: () => void message.refetch() });
  const refused = message.isError ? linkProblem(message.error) : null;
  const shown = problem ?? refused;
  return (
    <>
      <p>
        Account <Address value={address} full />
      </p>
      {message.isPending ? <LoadingRows rows={4} what="the message" /> : null}
      {message.isError && refused === null ? (
        <ErrorState compact error={message.error} money="Nothing was signed." onRetry={() => void message.refetch()} />
      ) : null}
      {message.data === undefined ? null : (
        <>
          <p className="flex flex-wrap items-baseline justify-between gap-x-4 text-fg-2">
            <span>
              This is what you sign, word for word. It moves no money and gives nobody permission to move any.
            </span>
            <Countdown
              until={message.data.expiresAt}
              label="Good for"
              expiredText="Too old; a new one comes"
              onExpire={() => void message.refetch()}
            />
          </p>
          <pre
            tabIndex={0}
            role="region"
            aria-label="Message to sign"
            className="max-h-80 overflow-auto rounded-card border bg-sunken p-3 font-mono text-sm break-words whitespace-pre-wrap"
          >
            {message.data.message}
          </pre>
        </>
      )}
      {shown === null ? null : (
        <Alert tone="warning" title={shown.title}>
          {shown.text}
        </Alert>
      )}
      {failure == null ? null : <ErrorState compact error={failure} money="The wallet is not linked." />}
      <ApiSnippet method="POST" path={initWalletLink.path} auth="bearer" body={{ address }} />
      <div className="flex flex-wrap justify-between gap-2">
        <Button variant="ghost" disabled={busy} onClick={onBack}>
          <ArrowLeft aria-hidden /> Another account
        </Button>
        <Button
          variant="primary"
          loading={busy}
          disabled={message.data === undefined || message.isFetching || shown?.next === "choose"}
          onClick={() => (message.data === undefined ? undefined : void sign(message.data.message))}
        >
          {busy ? "Waiting for the signature …" : "Sign and link"}
        </Button>
      </div>
    </>
  );
};
