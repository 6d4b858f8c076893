import { lightTheme } from "@rainbow-me/rainbowkit";

const base = lightTheme({ borderRadius: "small", overlayBlur: "none" });

/** RainbowKit in the app's own tokens; they follow the theme by themselves. */
export const rainbowTheme: ReturnType<typeof lightTheme> = {
  ...base,
  colors: {
    ...base.colors,
    accentColor: "var(--accent)",
    accentColorForeground: "var(--on-accent)",
    actionButtonBorder: "var(--border)",
    actionButtonBorderMobile: "var(--border)",
    actionButtonSecondaryBackground: "var(--sunken)",
    closeButton: "var(--text-2)",
    closeButtonBackground: "var(--sunken)",
    connectButtonBackground: "var(--surface)",
    connectButtonInnerBackground: "var(--sunken)",
    connectButtonText: "var(--text-1)",
    error: "var(--danger)",
    generalBorder: "var(--border)",
    generalBorderDim: "var(--border)",
    menuItemBackground: "var(--sunken)",
    modalBackdrop: "var(--overlay)",
    modalBackground: "var(--surface)",
    modalBorder: "var(--border)",
    modalText: "var(--text-1)",
    modalTextDim: "var(--text-3)",
    modalTextSecondary: "var(--text-2)",
    profileAction: "var(--sunken)",
    profileActionHover: "var(--border)",
    profileForeground: "var(--surface)",
    selectedOptionBorder: "var(--control)",
  },
  fonts: { body: "var(--font-sans)" },
};
