"use client";

import { Search } from "lucide-react";
import { type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { Field, Input } from "@/components/ui/field";

const SETTLE_MS = 350;

const CHARACTERS_MAX = 120;

interface SearchFieldProps {
  readonly value: string;
  readonly placeholder?: string;
  /** Called when the person stops typing, or at once on Enter. */
  readonly onSettle: (text: string) => void;
}

export const SearchField = ({
  value,
  placeholder = "Id, address, hash, token, memo or tag",
  onSettle,
}: SearchFieldProps): ReactNode => {
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  const [told, setTold] = useState(value);
  if (value !== seen) {
    setSeen(value);
    // The parent returns reported values with a delay. Any other value was set elsewhere, for
    // example by removing the search's chip, and replaces the text.
    if (value !== told) {
      setTold(value);
      setText(value);
    }
  }
  const tell = (): void => {
    setTold(text.trim());
    onSettle(text.trim());
  };
  const settle = useEffectEvent(tell);
  useEffect(() => {
    if (text.trim() === told) return undefined;
    const timer = setTimeout(settle, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text, told]);
  return (
    <Field label="Search" labelHidden className="relative min-w-0 flex-1 basis-64">
      <Search
        className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-fg-3"
        aria-hidden
      />
      <Input
        type="search"
        className="pl-8"
        maxLength={CHARACTERS_MAX}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => (event.key === "Enter" ? tell() : undefined)}
      />
    </Field>
  );
};
