"use client";

import type { ReactNode } from "react";
import { useNames } from "@/components/features/names/use-names";
import { useChainName } from "@/components/features/operations/use-chain-name";
import { FlowPicture } from "./flow-picture";
import { quoteFlow, type QuotedFlow } from "./quote-flow";

/** The route of a quote, drawn before anything moves. */
export const QuotePicture = ({ quote }: { readonly quote: QuotedFlow }): ReactNode => {
  const chainName = useChainName();
  const { addressName } = useNames();
  return <FlowPicture flow={quoteFlow(quote, { chainName, addressName })} label="Route" />;
};
