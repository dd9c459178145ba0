"""The five tabs of the dashboard, one module each."""
