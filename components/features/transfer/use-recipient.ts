"use client";

import { useState } from "react";
import { recipientView, type RecipientView } from "./recipient";
import { useKnownAddresses } from "./use-known-addresses";

export interface Recipient {
  readonly view: RecipientView;
  /** Nothing is called new before everything is known. */
  readonly complete: boolean;
  /** Whether the person says that the whole address was compared. */
  readonly compared: boolean;
  readonly setCompared: (compared: boolean) => void;
  /** Why the review cannot be opened yet; null when nothing stands in the way. */
  readonly obstacle: string | null;
}

/** Looks a typed recipient up among the project's known addresses. A person must compare an address that looks like a known one before it is paid. */
export const useRecipient = (typed: string): Recipient => {
  const { known, complete } = useKnownAddresses();
  const view = recipientView(typed, known);
  const [comparedAddress, setComparedAddress] = useState<string | null>(null);
  const compared = view.as !== "none" && comparedAddress === view.address;
  const mistakable = view.as !== "none" && view.lookAlike !== null && !compared;
  return {
    view,
    complete,
    compared,
    setCompared: (is) => setComparedAddress(is && view.as !== "none" ? view.address : null),
    obstacle: mistakable ? "Compare the address first: it looks like one that you know." : null,
  };
};
