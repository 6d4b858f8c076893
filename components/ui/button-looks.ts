import { cva } from "class-variance-authority";

/**
 * The style of a button, for links that should look like one: `<Link
 * className={buttonLooks({variant: "secondary"})}>`.
 */
export const buttonLooks = cva(
  "inline-flex shrink-0 items-center justify-center gap-2 rounded-control font-medium whitespace-nowrap transition-colors duration-150 disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:opacity-55 touch-target [&_svg]:size-4 [&_svg]:shrink-0",
  {
    variants: {
      variant: {
        primary: "bg-accent text-on-accent hover:bg-accent/90",
        secondary: "border border-control bg-surface text-fg hover:bg-sunken",
        ghost: "text-fg-2 hover:bg-sunken hover:text-fg",
        danger: "bg-danger text-on-danger hover:bg-danger/90",
        link: "link px-0! font-normal",
      },
      size: { sm: "h-7 px-2.5 text-sm", md: "h-9 px-3.5 text-base", lg: "h-11 px-5 text-lg" },
    },
    defaultVariants: { variant: "secondary", size: "md" },
  },
);
