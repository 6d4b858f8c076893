"use client";

import { Tooltip as Primitive } from "radix-ui";
import type { ReactNode } from "react";

export const TooltipProvider = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <Primitive.Provider delayDuration={300}>{children}</Primitive.Provider>
);

/** Explains its child on hover and focus. Information that people need must stand elsewhere too. */
export const Tooltip = ({
  content,
  children,
}: {
  readonly content: ReactNode;
  readonly children: ReactNode;
}): ReactNode => (
  <Primitive.Root>
    <Primitive.Trigger asChild>{children}</Primitive.Trigger>
    <Primitive.Portal>
      <Primitive.Content
        // Its text is read as the description of the child; as content of its own it would lie outside of all landmarks.
        aria-hidden
        sideOffset={6}
        collisionPadding={8}
        className="z-60 max-w-80 animate-fade-in rounded-control bg-fg px-2 py-1 text-sm break-words text-bg"
      >
        {content}
      </Primitive.Content>
    </Primitive.Portal>
  </Primitive.Root>
);
