"use client";

import { useState, type ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Checkbox, Field, Input } from "@/components/ui/field";
import { percentText } from "./decimal";
import { IMPACT_WORD, impactGate } from "./quote-change";

interface ImpactGateProps {
  readonly bps: number;
  /** Whether the person agreed to this price impact. */
  readonly onChange: (confirmed: boolean) => void;
}

/** Asks once more before a trade that moves the price a lot. Give it the quote's id as key, so that each quote asks anew. */
export const ImpactGate = ({ bps, onChange }: ImpactGateProps): ReactNode => {
  const [typed, setTyped] = useState("");
  const gate = impactGate(bps);
  if (gate === "none") return null;
  const percent = percentText(bps);
  return gate === "confirm" ? (
    <Alert tone="warning" title={`This trade costs about ${percent} of its value.`}>
      <Checkbox label={`I accept a price impact of ${percent}.`} onChange={(event) => onChange(event.target.checked)} />
    </Alert>
  ) : (
    <Alert tone="danger" title={`This trade costs about ${percent} of its value.`}>
      <Field label={`Type ${IMPACT_WORD} to continue anyway`} className="max-w-72">
        <Input
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            onChange(event.target.value.trim() === IMPACT_WORD);
          }}
          onKeyDown={(event) => {
            // Enter would ask for another quote, which asks for the word again.
            if (event.key === "Enter") event.preventDefault();
          }}
        />
      </Field>
    </Alert>
  );
};
