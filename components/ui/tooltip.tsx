"use client";

import { Tooltip as Primitive } from "radix-ui";
import type { ReactNode } from "react";

export const TooltipProvider = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <Primitive.Provider delayDuration={300}>{children}</Primitive.Provider>
);

/** Explains its child on hover and focus. Necessary information must also be shown elsewhere. */
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
        // Hidden from screen readers, which read the text as the child's description. As separate
        // content, the text would be outside all landmarks.
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
